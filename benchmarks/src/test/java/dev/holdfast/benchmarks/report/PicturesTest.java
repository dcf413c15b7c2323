package dev.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Plot;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

@DisplayName("A picture")
class PicturesTest {

    @TempDir
    private Path directory;

    private final Workload workload = new Workload("w", "Locks & more", Optional.empty(), "");
    private final Results results = new Results();

    @BeforeEach
    void addPlot() {
        Plot plot = new Plot("w", workload.title(), "threads", true, "pairs", Unit.PER_SECOND);
        for (String cell : List.of("ours", "theirs", "missing")) {
            plot.lines().add(Plot.Line.of(cell, List.of(1, 100), place -> new Figure.Term(cell, "n" + place)));
        }
        workload.plots().add(plot);
    }

    private void run(Map<String, Map<String, Double>> numbers) {
        Map<String, Measurements> cells = new TreeMap<>();
        numbers.forEach((cell, values) -> {
            Measurements measurements = new Measurements();
            values.forEach(measurements::put);
            cells.put(cell, measurements);
        });
        results.add(workload, new Figure.Round(cells));
    }

    private Document draw() throws Exception {
        Pictures.write(directory, results);
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        return factory.newDocumentBuilder().parse(directory.resolve("w.svg").toFile());
    }

    private static List<Element> all(Document picture, String tag) {
        NodeList nodes = picture.getElementsByTagName(tag);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(i -> (Element) nodes.item(i))
                .toList();
    }

    private static double number(Element element, String attribute) {
        return Double.parseDouble(element.getAttribute(attribute));
    }

    @Test
    @DisplayName("has a line for each contestant that was measured, and a label for each power of ten")
    void showsWhatWasMeasured() throws Exception {
        run(Map.of("ours", Map.of("n1", 10.0, "n100", 1_000.0), "theirs", Map.of("n1", 100.0)));
        assertThat(all(draw(), "text"))
                .extracting(Element::getTextContent)
                .containsExactly(
                        "Locks & more", "threads", "pairs", "10/s", "100/s", "1000/s", "1", "100", "ours", "theirs");
    }

    @Test
    @DisplayName("has equal distances for equal ratios, and the larger value above")
    void isLogarithmic() throws Exception {
        run(Map.of("ours", Map.of("n1", 10.0, "n100", 1_000.0), "theirs", Map.of("n1", 100.0)));
        List<Element> spots = all(draw(), "circle");
        double low = number(spots.get(0), "cy");
        double high = number(spots.get(1), "cy");
        assertThat(low).isGreaterThan(high);
        assertThat(number(spots.get(2), "cy")).isEqualTo((low + high) / 2);
        assertThat(number(spots.get(2), "cx")).isEqualTo(number(spots.get(0), "cx"));
    }

    @Test
    @DisplayName("leaves out zeros, and is not written if nothing is left")
    void leavesOutZeros() throws Exception {
        run(Map.of("ours", Map.of("n1", 0.0)));
        Pictures.write(directory, results);
        assertThat(directory).isEmptyDirectory();
    }
}
