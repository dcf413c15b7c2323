package dev.holdfast.examples;

import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.util.ArrayList;
import java.util.List;
import org.springframework.stereotype.Service;

/** The code under test of the pages on tests with Spring. */
@Service
class Transfers {

    private final List<Long> written = new ArrayList<>();

    @Locked(name = "account", key = "#account", maxWait = "10m")
    public void withdraw(String account, Runnable approval) {
        approval.run(); // takes its time
        written.add(CurrentLocks.fencingToken());
    }

    List<Long> written() {
        return written;
    }
}
