import * as parse from "./parsers.ts";
import { define } from "./variable.ts";

/** Variables of the export of log rows to other systems. */
export const LOG_EXPORT_VARIABLES = {
  logExportOtlp: define({
    name: "FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT",
    about: "Base address of an OpenTelemetry collector that gets each log row over HTTP; blank sends none.",
    fallback: "",
    example: "http://otel-collector:4318",
    parse: parse.optional(parse.webAddress),
  }),
  logExportOtlpHeaders: define({
    name: "FAIRWAY_LOG_EXPORT_OTLP_HEADERS",
    about: "Headers for that collector, as name=value pairs separated by commas.",
    fallback: "",
    example: "authorization=Bearer%20token",
    parse: parse.optional(parse.secret()),
    isSecret: true,
  }),
  logExportS3: define({
    name: "FAIRWAY_LOG_EXPORT_S3_URL",
    about:
      "Address of a bucket of S3-compatible storage that gets the log rows as JSON lines, and the beginning of the names of its objects; blank writes none.",
    fallback: "",
    example: "https://s3.eu-central-1.amazonaws.com/bucket/fairway",
    parse: parse.optional(parse.webAddress),
  }),
  logExportS3Region: define({
    name: "FAIRWAY_LOG_EXPORT_S3_REGION",
    about: "Region of the bucket, as its signatures name it.",
    fallback: "us-east-1",
    example: "eu-central-1",
    parse: parse.text,
  }),
  logExportS3KeyId: define({
    name: "FAIRWAY_LOG_EXPORT_S3_KEY_ID",
    about: "Id of an access key that may put objects into the bucket.",
    fallback: "",
    example: "AKIAIOSFODNN7EXAMPLE",
    parse: parse.text,
  }),
  logExportS3Key: define({
    name: "FAIRWAY_LOG_EXPORT_S3_KEY",
    about: "Secret of that access key.",
    fallback: "",
    example: "wJalrXUtnFEMI/K7MDENG",
    parse: parse.optional(parse.secret()),
    isSecret: true,
  }),
  logExportFrom: define({
    name: "FAIRWAY_LOG_EXPORT_FROM",
    about: "Where an export begins that has not run before: with the oldest row, or with those written from now on.",
    fallback: "oldest",
    example: "now",
    parse: parse.createChoiceParser("oldest", "now"),
  }),
};
