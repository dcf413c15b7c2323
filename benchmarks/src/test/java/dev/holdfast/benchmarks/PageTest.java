package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.workload.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PageTest {

    private static final Pattern COMMAND = Pattern.compile("^\\./benchmarks/run (.*?)(?: +#.*)?$", Pattern.MULTILINE);

    @Test
    @DisplayName("The commands of docs/benchmarks.md name workloads that exist")
    void workloadsExist() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "benchmarks.md"));
        List<String> commands = COMMAND.matcher(page)
                .results()
                .map(command -> command.group(1).strip())
                .toList();
        assertThat(commands).hasSizeGreaterThan(5).allSatisfy(command -> {
            Options options = Options.parse(command.isEmpty() ? new String[0] : command.split(" +"));
            assertThat(Workloads.ALL)
                    .extracting(Workload::id)
                    .containsAll(options.selections().stream()
                            .map(selection -> selection.replaceAll("/.*", ""))
                            .toList());
        });
    }
}
