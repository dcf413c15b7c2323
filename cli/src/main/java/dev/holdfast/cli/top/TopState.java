package dev.holdfast.cli.top;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the reader of {@code top} has chosen, changed by keys. Not thread-safe.
 *
 * <p>Arrow keys arrive as an escape sequence: {@link #key} gets them as {@link #UP}, {@link #DOWN} and so on.
 */
final class TopState {

    static final int UP = 0x110001;
    static final int DOWN = 0x110002;
    static final int PAGE_UP = 0x110003;
    static final int PAGE_DOWN = 0x110004;
    static final int ESCAPE = 27;

    /** The end of the input: the terminal was closed. */
    static final int END = 0x110005;

    private static final int CTRL_C = 3;
    private static final int CTRL_D = 4;

    private static final int DELETE = 127;
    private static final int BACKSPACE = 8;
    private static final int ENTER = 10;
    private static final int RETURN = 13;
    private static final int MAX_FILTER = 200;

    /** The columns, as the console's page sorts them. */
    enum Column {
        NAME("LOCK", false),
        HOLD("HELD BY", false),
        FOR("FOR", true),
        LEASE("LEASE", false),
        WAIT("WAIT", true),
        LONG("LONGEST", true),
        HEAT("S/MIN", true);

        final String title;
        private final boolean startsDescending;

        Column(String title, boolean startsDescending) {
            this.title = title;
            this.startsDescending = startsDescending;
        }
    }

    private Column column = Column.LONG;
    private boolean descending = true;
    private String show = "all";
    private String filter = "";
    private boolean isTyping;
    private boolean isPaused;
    private boolean isHelpShown;
    private boolean hasEnded;
    private int offset;

    /** Acts on a key. */
    void key(int key, int pageSize, int total) {
        if (key == END || key == CTRL_C) {
            hasEnded = true;
            return;
        }
        if (isTyping) {
            type(key);
            return;
        }
        isHelpShown = key == '?' && !isHelpShown;
        switch (key) {
            case 'q', 'Q', CTRL_D -> hasEnded = true;
            case 's' -> sortBy(1);
            case 'S' -> sortBy(-1);
            case 'r' -> descending = !descending;
            case 'a' -> show("all");
            case 'w' -> show("waited");
            case 'h' -> show("held");
            case '/' -> isTyping = true;
            case ESCAPE -> {
                filter = "";
                offset = 0;
            }
            case 'p', ' ' -> isPaused = !isPaused;
            case 'j', DOWN -> move(1, pageSize, total);
            case 'k', UP -> move(-1, pageSize, total);
            case 'n', PAGE_DOWN -> move(pageSize, pageSize, total);
            case 'b', PAGE_UP -> move(-pageSize, pageSize, total);
            default -> {
                // Has no meaning.
            }
        }
    }

    private void type(int key) {
        if (key == ENTER || key == RETURN) {
            isTyping = false;
        } else if (key == ESCAPE) {
            isTyping = false;
            filter = "";
        } else if (key == DELETE || key == BACKSPACE) {
            filter = filter.isEmpty() ? "" : filter.substring(0, filter.offsetByCodePoints(filter.length(), -1));
        } else if (key >= ' ' && key < UP && filter.length() < MAX_FILTER) {
            filter += Character.toString(key);
        }
        offset = 0;
    }

    private void sortBy(int step) {
        List<Column> all = List.of(Column.values());
        column = all.get(Math.floorMod(all.indexOf(column) + step, all.size()));
        descending = column.startsDescending;
        offset = 0;
    }

    private void show(String which) {
        show = which;
        offset = 0;
    }

    private void move(int by, int pageSize, int total) {
        offset = Math.max(0, Math.min(offset + by, Math.max(0, total - pageSize)));
    }

    /** The parameters of what is to be shown. */
    Map<String, String> parameters(int rows) {
        Map<String, String> parameters = new HashMap<>();
        parameters.put("q", filter);
        parameters.put("show", show);
        parameters.put("sort", column.name());
        parameters.put("desc", Boolean.toString(descending));
        parameters.put("offset", Integer.toString(offset));
        parameters.put("limit", Integer.toString(Math.max(1, Math.min(rows, 500))));
        return parameters;
    }

    Column column() {
        return column;
    }

    boolean isDescending() {
        return descending;
    }

    String show() {
        return show;
    }

    String filter() {
        return filter;
    }

    boolean isTyping() {
        return isTyping;
    }

    boolean isPaused() {
        return isPaused;
    }

    boolean isHelpShown() {
        return isHelpShown;
    }

    boolean hasEnded() {
        return hasEnded;
    }

    int offset() {
        return offset;
    }
}
