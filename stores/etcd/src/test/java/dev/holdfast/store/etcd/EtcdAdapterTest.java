package dev.holdfast.store.etcd;

import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterAdapterRules;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("server")
@NeedsEtcd
@DisplayName("The adapter of etcd")
class EtcdAdapterTest extends RegisterAdapterRules {

    @Override
    protected RegisterAdapter connect() {
        return TestStores.at(EtcdUnderTest.server().endpoint()).adapter();
    }

    @Override
    protected long requests() {
        return EtcdUnderTest.server().requests();
    }
}
