package dev.holdfast.cli.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonTest {

    @Test
    void putsCommasWhereTheyBelong() {
        Json json = new Json();
        json.beginArray()
                .beginObject()
                .name("a")
                .value(1)
                .name("b")
                .beginArray()
                .value("x")
                .value("y")
                .endArray();
        json.name("c")
                .beginObject()
                .endObject()
                .endObject()
                .beginObject()
                .endObject()
                .endArray();
        assertThat(json.toString()).isEqualTo("[{\"a\":1,\"b\":[\"x\",\"y\"],\"c\":{}},{}]");
    }

    @Test
    void keepsTextAndStaysSafeOnATerminal() {
        String text = "é🔒\"\\\u001b[2J\n\u202e\uD83D" + new String(Character.toChars(0xE0041));
        assertThat(new Json().value(text).toString())
                .isEqualTo("\"é🔒\\\"\\\\\\u001b[2J\\u000a\\u202e\\ud83d\\udb40\\udc41\"");
    }
}
