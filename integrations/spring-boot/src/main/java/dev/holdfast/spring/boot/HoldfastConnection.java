package dev.holdfast.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the connection bean that the lock store uses, if there are several: a {@link javax.sql.DataSource}, a {@code
 * LettuceConnectionFactory}, a {@code ManagedChannel} to etcd, or a {@code CuratorFramework}. A marked bean takes
 * precedence over a primary one, and need not be a default candidate.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @HoldfastConnection
 * DataSource locksDataSource() { … }
 * }</pre>
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface HoldfastConnection {}
