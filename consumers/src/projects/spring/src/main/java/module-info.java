/** Open, as the container makes the beans and their proxies by reflection. */
open module com.example.spring {
    requires dev.holdfast.spring;
}
