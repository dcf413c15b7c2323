package dev.holdfast.store.zookeeper;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** A process that acquires a lock and writes to a guarded node without checking that it still has the lock. */
final class FencedWriter {

    private FencedWriter() {}

    public static void main(String[] args) throws Exception {
        List<String> settings = Files.readAllLines(Path.of(args[0]));
        String root = settings.get(1);
        try (ZooKeeper zooKeeper = new ZooKeeper(settings.get(0), 600_000, event -> {});
                Holdfast holdfast = Trial.client(Trial.store(settings.get(0), root));
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println("ready");
            serve(in, holdfast, zooKeeper, root);
        }
    }

    private static void serve(BufferedReader in, Holdfast holdfast, ZooKeeper zooKeeper, String root) throws Exception {
        long token = 0;
        String holdId = "";
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("acquire")) {
                Hold hold = holdfast.lock("fenced").acquire();
                token = hold.fencingToken();
                holdId = hold.holdId();
                System.out.println("acquired");
            } else {
                System.out.println(attempt(zooKeeper, root, token, holdId));
            }
        }
    }

    private static String attempt(ZooKeeper zooKeeper, String root, long token, String holdId) throws Exception {
        while (true) {
            try {
                write(zooKeeper, root, token, holdId);
                return "written";
            } catch (StaleNodeTokenException e) {
                return "refused: " + e.getMessage();
            } catch (KeeperException.ConnectionLossException e) {
                // It was away for long. Writing twice does no harm here.
            }
        }
    }

    static void write(ZooKeeper zooKeeper, String root, long token, String holdId) throws Exception {
        Op check = ZooKeeperFence.at(root + "/fence").check(zooKeeper, token, holdId);
        zooKeeper.multi(List.of(check)); // what it guards would follow
    }
}
