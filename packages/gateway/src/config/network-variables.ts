import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables of connections that leave the process. */
export const NETWORK_VARIABLES = {
  httpsProxy: define({
    name: "FAIRWAY_HTTPS_PROXY",
    about:
      "HTTP proxy for calls to https: and wss: addresses, for everything that has no proxy of its own. Blank means HTTPS_PROXY, or no proxy.",
    fallback: "",
    example: "http://user:password@proxy.example.com:3128",
    parse: parse.optional(parse.proxyAddress),
    isSecret: true,
  }),
  httpProxy: define({
    name: "FAIRWAY_HTTP_PROXY",
    about: "HTTP proxy for calls to http: and ws: addresses. Blank means HTTP_PROXY, or no proxy.",
    fallback: "",
    example: "http://proxy.example.com:3128",
    parse: parse.optional(parse.proxyAddress),
    isSecret: true,
  }),
  noProxy: define({
    name: "FAIRWAY_NO_PROXY",
    about:
      "What is reached without a proxy, separated by commas: hosts with everything below them, suffixes (.example.com), addresses, networks, or * for everything. A port may follow a host or an address. Networks hold for addresses only, never for names. This machine is always reached directly. Blank means NO_PROXY.",
    fallback: "",
    example: ".svc,.cluster.local,vllm.example.com:8000,10.0.0.0/8",
    parse: parse.proxyExceptions,
  }),
  caFile: define({
    name: "FAIRWAY_CA_FILE",
    about:
      "File with certificates of authorities in PEM form, trusted in addition to the public ones by every TLS connection of the process. A change is noticed within ten seconds.",
    fallback: "",
    example: "/etc/fairway/authorities/ca-certificates.crt",
    parse: parse.optional(parse.text),
  }),
};
