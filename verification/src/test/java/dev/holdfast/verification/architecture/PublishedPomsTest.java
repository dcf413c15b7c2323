package dev.holdfast.verification.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

@DisplayName("The POMs that are published")
class PublishedPomsTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /** What Maven Central requires, and children inherit. */
    private static final List<String> INHERITED = List.of(
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "developers/developer/organization",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");

    private final XPath xpath = XPathFactory.newInstance().newXPath();
    private final Document parent = parse(ROOT.resolve("pom.xml"));
    private final Document bom = parse(ROOT.resolve("bom/pom.xml"));

    @Test
    @DisplayName("each state a name and a description of their own")
    void describeThemselves() {
        assertThat(published()).hasSizeGreaterThan(20).allSatisfy(module -> {
            Document pom = parse(ROOT.resolve(module).resolve("pom.xml"));
            assertThat(text(pom, "name")).as(module).startsWith("Holdfast");
            assertThat(text(pom, "description")).as(module).endsWith(".");
        });
    }

    @Test
    @DisplayName("have licence, developers, source and home page, from themselves or from the parent")
    void haveWhatCentralRequires() {
        for (Document pom : List.of(parent, bom)) {
            assertThat(INHERITED)
                    .allSatisfy(path -> assertThat(text(pom, path)).as(path).isNotBlank());
            assertThat(INHERITED)
                    .allSatisfy(path -> assertThat(text(pom, path)).as(path).isEqualTo(text(parent, path)));
        }
        assertThat(published()).allSatisfy(module -> {
            Document pom = parse(ROOT.resolve(module).resolve("pom.xml"));
            assertThat(text(pom, "parent/artifactId"))
                    .as(module)
                    .isEqualTo(module.equals("bom") ? "" : "holdfast-parent");
        });
        // Otherwise Maven appends the name of the module to each.
        assertThat(text(parent, "@child.project.url.inherit.append.path")).isEqualTo("false");
        assertThat(text(parent, "scm/@child.scm.connection.inherit.append.path"))
                .isEqualTo("false");
        assertThat(text(parent, "scm/@child.scm.developerConnection.inherit.append.path"))
                .isEqualTo("false");
        assertThat(text(parent, "scm/@child.scm.url.inherit.append.path")).isEqualTo("false");
    }

    @Test
    @DisplayName("are all in the BOM, which names nothing else and has no parent's versions")
    void areInTheBom() {
        List<String> artifacts = published().stream()
                .filter(module -> !module.equals("bom"))
                .map(module -> text(parse(ROOT.resolve(module).resolve("pom.xml")), "artifactId"))
                .toList();
        assertThat(texts(bom, "dependencyManagement/dependencies/dependency/artifactId"))
                .containsExactlyInAnyOrderElementsOf(artifacts)
                .isSorted();
        assertThat(texts(bom, "dependencyManagement/dependencies/dependency/version"))
                .containsOnly("${project.version}");
        assertThat(text(bom, "version")).isEqualTo(text(parent, "version"));
        assertThat(texts(parent, "dependencyManagement/dependencies/dependency/artifactId"))
                .containsAll(artifacts);
    }

    private List<String> published() {
        return texts(parent, "modules/module").stream()
                .filter(module -> !text(parse(ROOT.resolve(module).resolve("pom.xml")), "properties/maven.deploy.skip")
                        .equals("true"))
                .toList();
    }

    private String text(Document pom, String path) {
        return texts(pom, path).stream().findFirst().orElse("");
    }

    private List<String> texts(Document pom, String path) {
        try {
            NodeList nodes = (NodeList) xpath.evaluate("/project/" + path, pom, XPathConstants.NODESET);
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < nodes.getLength(); i++) {
                texts.add(nodes.item(i).getTextContent().strip());
            }
            return texts;
        } catch (javax.xml.xpath.XPathExpressionException e) {
            throw new IllegalArgumentException(path, e);
        }
    }

    private static Document parse(Path file) {
        try (var input = Files.newInputStream(file)) {
            // Not aware of namespaces, so that paths are short.
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(input);
        } catch (IOException | org.xml.sax.SAXException | javax.xml.parsers.ParserConfigurationException e) {
            throw new IllegalStateException("Can't read " + file, e);
        }
    }
}
