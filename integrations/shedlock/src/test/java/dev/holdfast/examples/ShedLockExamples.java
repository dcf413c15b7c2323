package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.shedlock.HoldfastLockProvider;
import dev.holdfast.shedlock.RollingLockProvider;
import java.util.concurrent.ScheduledExecutorService;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;

/** The code of the page on ShedLock, compiled. */
@SuppressWarnings("unused")
final class ShedLockExamples {

    LockProvider provider(Holdfast holdfast) {
        return new HoldfastLockProvider(holdfast);
    }

    LockProvider ofTenant(Holdfast holdfast, String tenant) {
        return new HoldfastLockProvider(holdfast, tenant + ":");
    }

    LockProvider keptAlive(Holdfast holdfast, ScheduledExecutorService timer) {
        return new KeepAliveLockProvider(new HoldfastLockProvider(holdfast), timer);
    }

    LockProvider rolling(Holdfast holdfast, LockProvider before) {
        return new RollingLockProvider(new HoldfastLockProvider(holdfast), before);
    }
}
