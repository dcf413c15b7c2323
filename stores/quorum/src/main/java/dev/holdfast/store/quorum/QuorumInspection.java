package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Inspect.Scope;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.quorum.member.Member;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Inspects resources by joining the members' inspections: what a majority reports as in use is in use. It is for
 * people, and may be slow.
 */
final class QuorumInspection {

    private static final int PAGE = 200;

    /** The order of resource names, which also applies to invalid ones. */
    private static final Comparator<String> BY_BYTES =
            Comparator.comparing(name -> name.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** One member's report on one holder. */
    record Sight(Member member, Party party) {}

    /** A holder, as all members report it. */
    static final class Holder {
        final ResourceInfo first;
        final String nonce;
        final long memberClaim;
        final List<Sight> sights = new ArrayList<>();

        Holder(ResourceInfo first, String nonce, long memberClaim) {
            this.first = first;
            this.nonce = nonce;
            this.memberClaim = memberClaim;
        }

        void add(Sight sight) {
            if (sights.stream().noneMatch(other -> other.member() == sight.member())) {
                sights.add(sight);
            }
        }

        boolean isSeen(MemberHold hold) {
            return sights.stream().anyMatch(sight -> sight.party().claim().equals(hold.ref));
        }

        /** A key for its claim that is the same for all attempts. */
        String claim() {
            return nonce + " claim " + MemberIds.claimOf(memberClaim) + " "
                    + first.name().value();
        }

        /** The greatest number that a majority of the members reaches. */
        long reached(int majority, java.util.function.ToLongFunction<Party> number) {
            long[] numbers = sights.stream()
                    .mapToLong(sight -> number.applyAsLong(sight.party()))
                    .sorted()
                    .toArray();
            return numbers[numbers.length - majority];
        }

        long highestFirst() {
            return sights.stream()
                    .mapToLong(sight ->
                            sight.party().tokens().map(TokenBlock::first).orElse(0L))
                    .max()
                    .orElse(0);
        }

        /** What most of the members show. One at which the grant was regained lacks it; or a late one. */
        String annotation() {
            Map<String, Long> counts = sights.stream()
                    .collect(Collectors.groupingBy(
                            sight -> sight.party().annotation(), LinkedHashMap::new, Collectors.counting()));
            return counts.entrySet().stream()
                    .max(Map.Entry.comparingByValue())
                    .map(Map.Entry::getKey)
                    .orElse("");
        }

        long last(int majority) {
            return reached(
                    majority, party -> party.tokens().map(TokenBlock::last).orElse(0L));
        }
    }

    private final Quorum quorum;
    /** In the order of the first member that answers: oldest grant first. */
    private final Map<String, Holder> holders = new LinkedHashMap<>();

    private final List<String> failures = new ArrayList<>();

    /** By the index of the member. */
    private final Map<Integer, String> problems = new HashMap<>();

    /** Why members can't read the record of the inspected name. */
    private final List<StoreException> unreadable = new ArrayList<>();

    /** Why members can't read a record, by its name. */
    private final Map<String, String> damage = new TreeMap<>();

    private final Map<Integer, Party> markers = new HashMap<>();
    private int pending;
    private int answered;

    private Runnable whenComplete = () -> {};

    private QuorumInspection(Quorum quorum) {
        this.quorum = quorum;
    }

    /** Receives the holders that a majority reports. */
    interface Listener {
        /**
         * Called once.
         *
         * @param silent how many members have not reported what they have
         */
        void found(List<Holder> holders, int silent, @Nullable StoreException failure);
    }

    /** Passes on the holders that a majority reports. */
    static void holders(Quorum quorum, String prefix, Scope scope, Listener listener) {
        QuorumInspection inspection = new QuorumInspection(quorum);
        BiConsumer<List<Holder>, @Nullable StoreException> done =
                (holders, failure) -> listener.found(holders, quorum.members.size() - inspection.answered, failure);
        inspection.begin(prefix, scope, () -> inspection.passOnHolders(done));
    }

    private List<DamagedRecord> damaged() {
        return damage.entrySet().stream()
                .map(entry -> new DamagedRecord(entry.getKey(), entry.getValue()))
                .toList();
    }

    private void begin(String prefix, Scope scope, Runnable action) {
        whenComplete = action;
        pending = quorum.members.size();
        for (Member member : quorum.members) {
            ask(member, new ArrayDeque<>(List.of(new Command.Inspect(prefix, Optional.empty(), PAGE, scope))));
        }
    }

    /** Gets one page after another from a member. */
    private void ask(Member member, Deque<Command.Inspect> pages) {
        Command.Inspect next = pages.poll();
        if (next == null) {
            answered++;
            memberDone();
            return;
        }
        member.ask(next, (reply, failure) -> {
            if (!(reply instanceof Reply.Inspected page)) {
                String problem = failure == null ? "it answered " + reply : String.valueOf(failure.getMessage());
                if (failure != null && failure.reason() == StoreException.Reason.CORRUPT) {
                    unreadable.add(failure);
                }
                problems.put(member.index, problem);
                failures.add(member + ": " + problem);
                memberDone();
                return;
            }
            page.cursor()
                    .ifPresent(cursor ->
                            pages.add(new Command.Inspect(next.prefix(), Optional.of(cursor), PAGE, next.scope())));
            for (DamagedRecord record : page.damaged()) {
                String problem = member + ": " + record.reason();
                damage.merge(record.name(), problem, (one, other) -> one + "; " + other);
                problems.putIfAbsent(member.index, record.reason());
            }
            for (ResourceInfo info : page.resources()) {
                info.holders().forEach(party -> note(member, info, party));
                if (next.scope() == Scope.PREFIX
                        && info.holding() > info.holders().size()) {
                    // It has more holders than a member lists on a page of several names.
                    pages.add(new Command.Inspect(info.name().value(), Optional.empty(), PAGE, Scope.NAME));
                }
            }
            ask(member, pages);
        });
    }

    private void note(Member member, ResourceInfo info, Party party) {
        if (info.name().equals(Markers.NAME)) {
            markers.put(member.index, party);
            return;
        }
        Optional<String> nonce = MemberIds.nonceIn(party.label());
        if (nonce.isPresent()) {
            long memberClaim = party.claim().claim();
            String key = nonce.get() + " " + memberClaim + " " + info.name().value();
            holders.computeIfAbsent(key, unused -> new Holder(info, nonce.get(), memberClaim))
                    .add(new Sight(member, party));
        }
    }

    /**
     * Joins the regained holds of a claim with its others. The attempts of a waiting claim stay separate: parts of
     * several don't make a majority.
     */
    private Collection<Holder> joined() {
        Set<String> repaired = new HashSet<>();
        for (Holder holder : holders.values()) {
            if (MemberIds.isRepair(holder.memberClaim)) {
                repaired.add(holder.claim());
            }
        }
        Map<String, Holder> joined = new LinkedHashMap<>();
        holders.forEach((key, holder) -> {
            String claim = MemberIds.claimOf(holder.memberClaim) != 0 && repaired.contains(holder.claim())
                    ? holder.claim()
                    : key;
            Holder first = joined.putIfAbsent(claim, holder);
            if (first != null) {
                holder.sights.forEach(first::add);
            }
        });
        return joined.values();
    }

    private void memberDone() {
        pending--;
        if (pending == 0) {
            whenComplete.run();
        }
    }

    private void passOnHolders(BiConsumer<List<Holder>, @Nullable StoreException> done) {
        if (answered < quorum.majority()) {
            boolean isDamage = answered + unreadable.size() >= quorum.majority();
            done.accept(
                    List.of(),
                    isDamage
                            ? new StoreException(
                                    StoreException.Reason.CORRUPT,
                                    Effect.NONE,
                                    String.join("; ", failures),
                                    unreadable.get(0))
                            : quorum.unavailable(Effect.NONE, "The holds were reported", failures));
        } else {
            done.accept(heldByMajority(), null);
        }
    }

    private List<Holder> heldByMajority() {
        return joined().stream()
                .filter(holder -> holder.sights.size() >= quorum.majority())
                .toList();
    }

    // ---- Members

    /** Reports the status of each member. */
    static void members(Quorum quorum, CompletableFuture<List<MemberStatus>> future) {
        QuorumInspection inspection = new QuorumInspection(quorum);
        inspection.begin("", Scope.PREFIX, () -> future.complete(inspection.statuses()));
    }

    private List<MemberStatus> statuses() {
        List<Holder> heldByMajority = heldByMajority();
        List<MemberStatus> statuses = new ArrayList<>();
        for (Member member : quorum.members) {
            Party marker = markers.get(member.index);
            String problem = problems.get(member.index);
            if (problem == null && marker == null) {
                problem = "it is empty, which no client has noticed yet";
            }
            int there = 0;
            for (Holder holder : heldByMajority) {
                there += holder.sights.stream().anyMatch(sight -> sight.member() == member) ? 1 : 0;
            }
            statuses.add(new MemberStatus(
                    member.name,
                    Optional.ofNullable(problem),
                    marker == null ? Duration.ZERO : quorum.markers.keptOutFor(marker),
                    there,
                    heldByMajority.size() - there));
        }
        return statuses;
    }

    // ---- Inspect

    static void inspect(Quorum quorum, Command.Inspect command, CompletableFuture<Reply> future) {
        if (command.scope() == Scope.WAITED) {
            // No claim waits at the members.
            future.complete(new Reply.Inspected(List.of(), Optional.empty()));
            return;
        }
        QuorumInspection inspection = new QuorumInspection(quorum);
        BiConsumer<List<Holder>, @Nullable StoreException> done = (holders, failure) -> {
            if (failure != null) {
                future.completeExceptionally(failure);
            } else if (command.scope() == Scope.NAME) {
                future.complete(one(quorum, command, holders));
            } else {
                future.complete(page(quorum, command, holders, inspection.damaged()));
            }
        };
        inspection.begin(command.prefix(), command.scope(), () -> inspection.passOnHolders(done));
    }

    /** The cursor is the last name on the page. Damaged records are reported even if a majority can read them. */
    private static Reply page(
            Quorum quorum, Command.Inspect command, List<Holder> holders, List<DamagedRecord> damaged) {
        Map<String, List<Holder>> byName = new HashMap<>();
        for (Holder holder : holders) {
            byName.computeIfAbsent(holder.first.name().value(), unused -> new ArrayList<>())
                    .add(holder);
        }
        Set<String> names = new TreeSet<>(BY_BYTES);
        names.addAll(byName.keySet());
        damaged.forEach(record -> names.add(record.name()));
        List<String> rest = names.stream()
                .filter(name -> command.cursor().isEmpty()
                        || BY_BYTES.compare(name, command.cursor().get()) > 0)
                .toList();
        List<String> page = rest.subList(0, Math.min(command.limit(), rest.size()));
        List<ResourceInfo> infos = new ArrayList<>();
        for (String name : page) {
            List<Holder> present = byName.get(name);
            if (present != null) {
                infos.add(info(quorum, new ResourceName(name), present));
            }
        }
        Set<String> onPage = Set.copyOf(page);
        return new Reply.Inspected(
                infos,
                damaged.stream()
                        .filter(record -> onPage.contains(record.name()))
                        .toList(),
                page.size() == rest.size() ? Optional.empty() : Optional.of(page.get(page.size() - 1)));
    }

    /** The cursor is the first token of the last holder on the page. */
    private static Reply one(Quorum quorum, Command.Inspect command, List<Holder> holders) {
        if (holders.isEmpty()) {
            return new Reply.Inspected(List.of(), Optional.empty());
        }
        long after = command.cursor().map(Long::parseLong).orElse(0L);
        ResourceInfo whole = info(quorum, new ResourceName(command.prefix()), holders);
        List<Party> rest = whole.holders().stream()
                .filter(party -> firstToken(party) > after)
                .sorted(Comparator.comparing(QuorumInspection::firstToken))
                .toList();
        List<Party> page = rest.subList(0, Math.min(command.limit(), rest.size()));
        Optional<String> cursor = page.size() == rest.size()
                ? Optional.empty()
                : Optional.of(Long.toString(firstToken(page.get(page.size() - 1))));
        return new Reply.Inspected(List.of(whole.withHolders(page)), cursor);
    }

    private static long firstToken(Party party) {
        return party.tokens().map(TokenBlock::first).orElse(0L);
    }

    private static ResourceInfo info(Quorum quorum, ResourceName name, List<Holder> holders) {
        List<Party> parties =
                holders.stream().map(holder -> party(quorum, holder)).toList();
        long last = parties.stream()
                .mapToLong(party -> party.tokens().map(TokenBlock::last).orElse(0L))
                .max()
                .orElse(0);
        long heldWeight = parties.stream().mapToLong(Party::weight).sum();
        ResourceSpec spec = holders.get(0).first.spec();
        return new ResourceInfo(name, spec, spec.capacity(), parties, parties.size(), heldWeight, List.of(), 0, last);
    }

    private static Party party(Quorum quorum, Holder holder) {
        int majority = quorum.majority();
        Party one = holder.sights.get(0).party();
        QuorumClaim own = own(quorum, holder);
        Duration remaining = Duration.ofNanos(
                holder.reached(majority, party -> party.remaining().toNanos()));
        int weight = (int) holder.reached(majority, Party::weight);
        if (own != null) {
            return new Party(
                    own.ref,
                    own.session.label,
                    weight,
                    Optional.ofNullable(own.tokens),
                    remaining,
                    one.ttl(),
                    Optional.empty(),
                    holder.annotation());
        }
        long number = Math.max(1, MemberIds.claimOf(one.claim().claim()));
        ClaimRef ref = new ClaimRef(holder.first.name(), new SessionId("q" + holder.nonce), number);
        long last = holder.last(majority);
        long first = Math.min(holder.highestFirst(), last);
        return new Party(
                ref,
                MemberIds.plainLabel(one.label()),
                weight,
                Optional.of(new TokenBlock(first, last)),
                remaining,
                one.ttl(),
                Optional.empty(),
                holder.annotation());
    }

    /** The claim of this connection behind a holder, if it is one. */
    static @Nullable QuorumClaim own(Quorum quorum, Holder holder) {
        for (QuorumSession session : quorum.sessions.values()) {
            if (session.nonce.equals(holder.nonce)) {
                for (QuorumClaim claim : session.claims.values()) {
                    if (claim.state == QuorumClaim.State.HELD
                            && claim.ref.resource().equals(holder.first.name())
                            && claim.holds.stream().anyMatch(holder::isSeen)) {
                        return claim;
                    }
                }
            }
        }
        return null;
    }
}
