package dev.holdfast.cli.top;

/** How many cells of a terminal a text takes: two for East Asian characters and emoji, none for marks. */
final class TextWidth {

    private TextWidth() {}

    static int of(String text) {
        return text.codePoints().map(TextWidth::of).sum();
    }

    /** The beginning of a text that fits; an ellipsis stands for the rest. */
    static String cut(String text, int cells) {
        if (of(text) <= cells) {
            return text;
        }
        StringBuilder start = new StringBuilder();
        int used = 1; // of the ellipsis
        for (int i = 0; i < text.length() && cells > 0; ) {
            int codePoint = text.codePointAt(i);
            used += of(codePoint);
            if (used > cells) {
                return start.append('…').toString();
            }
            start.appendCodePoint(codePoint);
            i += Character.charCount(codePoint);
        }
        return "";
    }

    private static int of(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.FORMAT -> 0;
            default -> isWide(codePoint) ? 2 : 1;
        };
    }

    private static boolean isWide(int c) {
        return c >= 0x1100
                && (c <= 0x115f
                        || (c >= 0x2e80 && c <= 0xa4cf)
                        || (c >= 0xac00 && c <= 0xd7a3)
                        || (c >= 0xf900 && c <= 0xfaff)
                        || (c >= 0xfe30 && c <= 0xfe6f)
                        || (c >= 0xff00 && c <= 0xff60)
                        || (c >= 0xffe0 && c <= 0xffe6)
                        || (c >= 0x1f300 && c <= 0x1faff)
                        || (c >= 0x20000 && c <= 0x3fffd));
    }
}
