import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables of traces to an OpenTelemetry collector. */
export const TRACE_VARIABLES = {
  otlpEndpoint: define({
    name: "FAIRWAY_OTLP_ENDPOINT",
    about: "Base address of an OpenTelemetry collector that takes OTLP over HTTP; blank sends no traces.",
    fallback: "",
    example: "http://otel-collector:4318",
    parse: parse.optional(parse.webAddress),
  }),
  otlpHeaders: define({
    name: "FAIRWAY_OTLP_HEADERS",
    about: "Headers for the collector, as name=value pairs separated by commas.",
    fallback: "",
    example: "authorization=Bearer token",
    parse: parse.optional(parse.secret()),
    isSecret: true,
  }),
  traceSample: define({
    name: "FAIRWAY_TRACE_SAMPLE",
    about:
      "Share of the calls that are traced, from 0 to 1. A caller that sends a traceparent decides for its own calls.",
    fallback: "1",
    example: "0.05",
    parse: parse.decimal(0, 1),
  }),
  traceService: define({
    name: "FAIRWAY_TRACE_SERVICE",
    about: "`service.name` of the traces.",
    fallback: "fairway",
    example: "fairway-staging",
    parse: parse.text,
  }),
  traceAttributes: define({
    name: "FAIRWAY_TRACE_ATTRIBUTES",
    about:
      "Attributes of the resource that all spans belong to, as name=value pairs separated by commas, with values in percent-encoding.",
    fallback: "",
    example: "deployment.environment.name=production",
    parse: parse.pairs,
  }),
  genAiConvention: define({
    name: "FAIRWAY_GENAI_CONVENTION",
    about:
      "Name of the vendor in the OpenTelemetry conventions for generative AI: gen_ai.system in 1.36, gen_ai.provider.name in 1.37 and later, or both.",
    fallback: "1.37",
    example: "1.36",
    parse: parse.createChoiceParser("1.36", "1.37", "both"),
  }),
};
