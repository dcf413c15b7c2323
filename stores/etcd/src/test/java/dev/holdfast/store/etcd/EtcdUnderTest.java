package dev.holdfast.store.etcd;

import dev.holdfast.servers.EtcdServer;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.testkit.StoreUnderTest;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;

/** Two stores in a namespace of their own. */
final class EtcdUnderTest implements StoreUnderTest {

    private static final AtomicInteger NAMESPACES = new AtomicInteger();

    private static final class Shared {
        static final EtcdServer SERVER = EtcdServer.start();
    }

    private final String namespace = "test-" + NAMESPACES.incrementAndGet();
    private final EtcdStore first;
    private final EtcdStore second;

    EtcdUnderTest() {
        first = TestStores.at(server().endpoint()).namespace(namespace).open();
        second = TestStores.at(server().endpoint()).namespace(namespace).open();
    }

    /** One server for all tests of this JVM without special needs; each uses another namespace. */
    static EtcdServer server() {
        return Shared.SERVER;
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    /** Nothing is kept of a name that is not in use. */
    @Override
    public boolean forgetIdle() {
        return true;
    }

    @Override
    public boolean damage(ResourceName name) {
        String key = Base64.getEncoder().encodeToString(new KeyLayout(namespace).record(name));
        server().call("/v3/kv/put", "{\"key\": \"" + key + "\", \"value\": \"cnViYmlzaA==\"}");
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
