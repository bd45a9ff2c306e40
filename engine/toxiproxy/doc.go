// Package toxiproxy speaks to a Toxiproxy server that runs already (github.com/Shopify/toxiproxy), in whose relays a plan
// wants its faults: what such a server is asked for a toxic, and what it cannot do; its proxies, made under names that carry
// the result set's token, and their undo.
//
// A server of somebody else's is asked with care: each request has Within to be answered, because changing toxics under
// traffic can block a server for ever; proxies of other names are never touched.
package toxiproxy
