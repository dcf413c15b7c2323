package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import java.util.List;

/** What the annotation of a hold says about its owner. */
final class Annotations {

    private Annotations() {}

    /** The claims that the owner of a hold waits with. */
    static List<ClaimKey> waitsOf(LockInfo.Holder holder) {
        return List.of();
    }
}
