package dev.holdfast.store.ledger;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Audit;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.DamagedRecord;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Refusals;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reports on the store: pages of an audit or an inspection, and texts of rejections. */
final class LedgerReports {

    /** More waiters than this are counted but not named. */
    private static final int MAX_WAITERS_SHOWN = 100;

    /** Limits a page whatever size was requested, and so the time of a round trip. */
    private static final int MAX_PAGE = 1_000;

    /** Above all names: UTF-8 has no such byte. */
    private static final byte[] END = {(byte) 0xff};

    private final Ledger ledger;
    private final ClaimReplies answers;

    LedgerReports(Ledger ledger, ClaimReplies answers) {
        this.ledger = ledger;
        this.answers = answers;
    }

    // Audit. First come the claims that have their own rows, by number and name: the cursor "c17:abc" means that number
    // 17 on abc was the last. Then the inline grants, by name: the cursor "nabc" means that abc was the last. A claim
    // that exists throughout is reported, whatever is added or dropped between the pages.

    Reply audit(Audit command) throws SQLException {
        long session = SessionRow.numberOf(command.session());
        // Ends the session if it has expired.
        boolean isLive = session != 0 && ledger.live(session) != null;
        if (!isLive && (session == 0 || ledger.sessions().known(session) == null)) {
            return new Reply.Audited(List.of(), List.of(), Optional.empty());
        }
        int limit = Math.min(command.limit(), MAX_PAGE);
        Set<ClaimRef> granted = new LinkedHashSet<>();
        List<ClaimRef> waiting = new ArrayList<>();
        String cursor = command.cursor().orElse("c0:");
        Optional<String> next = Optional.empty();
        if (cursor.startsWith("c")) {
            int before = cursor.indexOf(':');
            long number = Long.parseLong(cursor.substring(1, before));
            byte[] key = cursor.substring(before + 1).getBytes(StandardCharsets.UTF_8);
            List<ClaimRows.Place> page = ledger.claimRows().ofSession(session, number, key, limit + 1);
            next = auditClaims(command.session(), page.subList(0, Math.min(limit, page.size())), granted, waiting);
            limit -= page.size();
            cursor = "n";
        }
        if (limit >= 0) {
            next = auditInline(command.session(), isLive, cursor.substring(1), limit, granted);
        }
        return new Reply.Audited(List.copyOf(granted), waiting, next);
    }

    /** Returns the cursor of the page's end. */
    private Optional<String> auditClaims(
            SessionId session, List<ClaimRows.Place> page, Set<ClaimRef> granted, List<ClaimRef> waiting)
            throws SQLException {
        Optional<String> end = Optional.empty();
        ledger.resources().require(page.stream().map(ClaimRows.Place::name).toList());
        for (ClaimRows.Place place : page) {
            ClaimRef ref = new ClaimRef(place.name(), session, place.claim().number);
            // Reads the resource too, so that an expired holder makes room before we report.
            ClaimRow claim = ledger.claim(ref);
            if (claim != null && claim.isGranted) {
                granted.add(ref);
            } else if (claim != null) {
                waiting.add(ref);
            }
            end = Optional.of("c" + ref.claim() + ":" + place.name());
        }
        return end;
    }

    private Optional<String> auditInline(
            SessionId session, boolean isLive, String after, int limit, Set<ClaimRef> granted) throws SQLException {
        byte[] key = after.getBytes(StandardCharsets.UTF_8);
        List<Rows.Inline> page = ledger.rows().inline(SessionRow.numberOf(session), key, limit + 1);
        String last = after;
        // Only expired grants are read in full, which makes room for others.
        Predicate<Rows.Inline> isOver = inline -> !isLive || inline.isOver(ledger.now());
        ledger.resources()
                .require(page.stream().filter(isOver).map(Rows.Inline::name).toList());
        for (Rows.Inline inline : page.subList(0, Math.min(limit, page.size()))) {
            ClaimRef ref = new ClaimRef(inline.name(), session, inline.claim());
            if (!isOver.test(inline) || ledger.claim(ref) != null) {
                granted.add(ref);
            }
            last = inline.name().value();
        }
        return page.size() > limit ? Optional.of("n" + last) : Optional.empty();
    }

    // Inspection. The cursor is the last key of the page, which may not be a valid name. All holders of a resource are
    // on one page. Damage is found before anything is changed: an inspection drops dead claims, and one that failed
    // halfway would have to be rolled back with everything it has found.

    Reply inspect(Inspect command) throws SQLException {
        byte[] prefix = command.prefix().getBytes(StandardCharsets.UTF_8);
        if (command.scope() == Inspect.Scope.NAME) {
            List<ResourceName> names = new ArrayList<>();
            for (Rows.Row row : ledger.rows().inUse(prefix, behind(prefix), 1)) {
                if (row.damage() != null) {
                    throw row.damage();
                }
                names.add(StatementCache.name(row.key()));
            }
            return new Reply.Inspected(infos(names), Optional.empty());
        }
        int limit = Math.min(command.limit(), MAX_PAGE);
        byte[] from = command.cursor()
                .map(cursor -> behind(HexFormat.of().parseHex(cursor)))
                .orElse(prefix);
        boolean isWaited = command.scope() == Inspect.Scope.WAITED;
        List<Rows.Row> rows = isWaited
                ? ledger.rows().waited(from, endOf(prefix), limit + 1)
                : ledger.rows().inUse(from, endOf(prefix), limit + 1);
        List<ResourceName> sound = new ArrayList<>();
        List<DamagedRecord> damaged = new ArrayList<>();
        for (Rows.Row row : rows.subList(0, Math.min(limit, rows.size()))) {
            StoreException damage = damageOf(row);
            if (damage == null) {
                sound.add(StatementCache.name(row.key()));
            } else {
                damaged.add(new DamagedRecord(shown(row.key()), String.valueOf(damage.getMessage())));
            }
        }
        Optional<String> next = rows.size() <= limit
                ? Optional.empty()
                : Optional.of(HexFormat.of().formatHex(rows.get(limit - 1).key()));
        List<ResourceInfo> infos = infos(sound);
        // The waiters of some may just have been dropped, because they were dead.
        return new Reply.Inspected(
                isWaited ? infos.stream().filter(info -> info.waiting() > 0).toList() : infos, damaged, next);
    }

    /** Why this row, or another that belongs to it, cannot be read; null if all can. Changes nothing. */
    private @Nullable StoreException damageOf(Rows.Row row) throws SQLException {
        ResourceRow resource = row.resource();
        if (resource == null) {
            return row.damage();
        }
        try {
            List<ClaimRow> claims = new ArrayList<>();
            if (resource.hasInlineGrant()) {
                claims.add(ClaimRow.inline(resource));
            }
            if (resource.grants > 0) {
                claims.addAll(ledger.claimRows().grants(resource, Integer.MAX_VALUE));
            }
            if (resource.waiters > 0) {
                claims.addAll(ledger.claimRows().waiters(resource, MAX_WAITERS_SHOWN));
            }
            for (ClaimRow claim : claims) {
                var unused = ledger.sessions().known(claim.session);
            }
            var unused = ledger.latches().isCounting(resource);
            return null;
        } catch (StoreException e) {
            if (e.reason() != StoreException.Reason.CORRUPT) {
                throw e;
            }
            return e;
        }
    }

    private static String shown(byte[] key) {
        return new String(key, 0, Math.min(key.length, ResourceName.MAX_BYTES), StandardCharsets.UTF_8);
    }

    private List<ResourceInfo> infos(List<ResourceName> names) throws SQLException {
        if (names.isEmpty()) {
            return List.of();
        }
        List<ResourceInfo> found = new ArrayList<>();
        ledger.resources().require(names);
        Map<ClaimRef, String> annotations = ledger.annotations().between(names.get(0), names.get(names.size() - 1));
        for (ResourceName name : names) {
            ResourceRow resource = ledger.resource(name);
            if (ledger.isInUse(resource)) {
                found.add(info(resource, annotations));
            }
        }
        return found;
    }

    /** The smallest key after another. */
    private static byte[] behind(byte[] key) {
        return Arrays.copyOf(key, key.length + 1);
    }

    /** The smallest key after all keys with a prefix. */
    private static byte[] endOf(byte[] prefix) {
        byte[] end = Arrays.copyOf(prefix, prefix.length + 1);
        end[prefix.length] = END[0];
        return prefix.length == 0 ? END : end;
    }

    private ResourceInfo info(ResourceRow resource, Map<ClaimRef, String> annotations) throws SQLException {
        List<ClaimRow> grants = new ArrayList<>();
        if (resource.hasInlineGrant()) {
            grants.add(ClaimRow.inline(resource));
        }
        if (resource.grants > 0) {
            grants.addAll(ledger.liveGrants(resource));
        }
        List<ClaimRow> waiters = resource.waiters == 0 ? List.of() : ledger.liveWaiters(resource, MAX_WAITERS_SHOWN);
        return new ResourceInfo(
                resource.name,
                new ResourceSpec(resource.declared.kind(), resource.capacity, resource.declared.order()),
                resource.declared.capacity(),
                parties(grants, annotations),
                grants.size(),
                grants.stream().mapToLong(grant -> grant.weight).sum(),
                parties(waiters, Map.of()),
                resource.waiters,
                resource.lastToken);
    }

    private List<Party> parties(List<ClaimRow> claims, Map<ClaimRef, String> annotations) throws SQLException {
        List<Party> parties = new ArrayList<>(claims.size());
        for (ClaimRow claim : claims) {
            SessionRow session = ledger.sessions().known(claim.session);
            ClaimRef ref = claim.ref();
            parties.add(new Party(
                    ref,
                    session == null ? "" : session.label,
                    claim.weight,
                    claim.isGranted ? Optional.of(claim.tokens()) : Optional.empty(),
                    Micros.duration(answers.leftInAll(claim)),
                    Micros.duration(session == null ? 0 : session.ttl),
                    claim.queuedAt == 0
                            ? Optional.empty()
                            : Optional.of(Micros.duration(Math.max(0, ledger.now() - claim.queuedAt))),
                    annotations.getOrDefault(ref, "")));
        }
        return parties;
    }

    /** The rejection of a claim, with the holder that blocks it. */
    Reply.Refused taken(ResourceRow resource) throws SQLException {
        Optional<ClaimRow> holder = resource.hasInlineGrant()
                ? Optional.of(ClaimRow.inline(resource))
                : resource.grants > 0
                        ? ledger.claimRows().grants(resource, 1).stream().findFirst()
                        : Optional.empty();
        if (holder.isEmpty() || holder.get().weight == 0) {
            return ledger.latches().isCounting(resource) ? Refusals.LATCH_CLOSED : Refusals.OTHERS_WAIT;
        }
        SessionRow session = ledger.sessions().known(holder.get().session);
        return Refusals.heldBy(
                session == null ? "" : session.label, holder.get().endToken, answers.leftInAll(holder.get()));
    }
}
