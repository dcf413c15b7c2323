package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.configurationmetadata.ConfigurationMetadataProperty;
import org.springframework.boot.configurationmetadata.ConfigurationMetadataRepositoryJsonBuilder;

@DisplayName("The metadata for editors")
class MetadataTest {

    @Test
    @DisplayName("knows and describes every property, and no article begins a description")
    void properties() throws IOException {
        List<String> names = new ArrayList<>();
        collect(HoldfastProperties.class, "holdfast.", names);
        Collection<ConfigurationMetadataProperty> known = known();
        assertThat(known)
                .extracting(ConfigurationMetadataProperty::getId)
                .containsAll(names)
                .contains("management.health.holdfast.enabled");
        assertThat(known)
                .filteredOn(property -> property.getId().equals("holdfast.store"))
                .singleElement()
                .satisfies(property ->
                        assertThat(property.getHints().getValueHints()).isNotEmpty());
        assertThat(known)
                .allSatisfy(property -> assertThat(property.getDescription())
                        .as(property.getId())
                        .isNotBlank()
                        .endsWith(".")
                        .doesNotContainPattern("^(A|An|The) "));
    }

    private static void collect(Class<?> type, String prefix, List<String> names) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name =
                    prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            if (component.getType().isRecord()) {
                collect(component.getType(), name + ".", names);
            } else {
                names.add(name);
            }
        }
    }

    private static Collection<ConfigurationMetadataProperty> known() throws IOException {
        try (InputStream in =
                HoldfastAutoConfiguration.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            return ConfigurationMetadataRepositoryJsonBuilder.create(Objects.requireNonNull(in))
                    .build()
                    .getAllProperties()
                    .values();
        }
    }
}
