package dev.holdfast.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles the reference store from changed source, in memory, beside the good one. */
final class BrokenCompiler {

    private static final String PACKAGE = "dev.holdfast.store.memory.";

    private BrokenCompiler() {}

    /** The class of the store, as the mutants have it. */
    static Class<?> compile(Mutant... mutants) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (Stream<Path> sources = Files.list(sourceFolder());
                MemoryFiles files = new MemoryFiles(compiler)) {
            List<JavaFileObject> units = new ArrayList<>();
            for (Path source :
                    sources.filter(path -> path.toString().endsWith(".java")).toList()) {
                String name = source.getFileName().toString().replace(".java", "");
                String text = Files.readString(source);
                for (Mutant mutant : mutants) {
                    text = mutant.applyTo(name, text);
                }
                units.add(new Source(name, text));
            }
            StringWriter messages = new StringWriter();
            List<String> options = List.of("-proc:none", "-nowarn", "-implicit:none");
            if (!compiler.getTask(messages, files, null, options, null, units).call()) {
                throw new IllegalStateException("A broken store does not compile:\n" + messages);
            }
            return new BrokenLoader(files.classes()).loadClass(PACKAGE + "ReferenceStore");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Path sourceFolder() {
        Path module = Path.of(System.getProperty("basedir", ".")).toAbsolutePath();
        return module.resolveSibling("stores")
                .resolve("memory/src/main/java/dev/holdfast/store/memory")
                .normalize();
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + PACKAGE.replace('.', '/') + name + ".java"), JavaFileObject.Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Keeps what the compiler writes. */
    private static final class MemoryFiles extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> written = new HashMap<>();

        MemoryFiles(JavaCompiler compiler) {
            super(compiler.getStandardFileManager(null, null, null));
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            URI uri = URI.create("memory:///" + className.replace('.', '/') + ".class");
            return new SimpleJavaFileObject(uri, kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    written.put(className, bytes);
                    return bytes;
                }
            };
        }

        Map<String, byte[]> classes() {
            Map<String, byte[]> classes = new HashMap<>();
            written.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
            return classes;
        }
    }

    /** Finds the broken classes before the good ones of the same name. */
    private static final class BrokenLoader extends ClassLoader {
        private final Map<String, byte[]> broken;

        BrokenLoader(Map<String, byte[]> broken) {
            super(BrokenCompiler.class.getClassLoader());
            this.broken = broken;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                byte[] bytes = broken.get(name);
                if (bytes == null) {
                    return super.loadClass(name, resolve);
                }
                Class<?> known = findLoadedClass(name);
                return known != null ? known : defineClass(name, bytes, 0, bytes.length);
            }
        }
    }
}
