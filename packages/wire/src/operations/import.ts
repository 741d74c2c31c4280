import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

const CONFIG_BYTES = 8 * 1024 * 1024;

export const litellmImport = endpoint({
  name: "litellmImport",
  method: "POST",
  path: "/api/import/litellm",
  access: "root",
  summary:
    "Channels, prices, aliases and retries of a configuration of LiteLLM or Bifrost; what is here already stays. Answers what was made, every setting that was not carried over and every model without a price, a line each.",
  body: z.strictObject({
    /** YAML of LiteLLM, or JSON of Bifrost. */
    config: z.string().check(z.minLength(1)),
    /** Values of the variables that it names as `os.environ/NAME` or `env.NAME`; the gateway reads none of its own. */
    variables: z.optional(z.record(z.string(), z.string())),
    /** Only says what would be made. */
    dry_run: z.optional(z.boolean()),
    /** Models without a price get what the addresses of their channels publish. */
    price_from_upstream: z.optional(z.boolean()),
    /** Address of the gateway that is left: models without a price get what it publishes. */
    price_from: z.optional(z.string().check(z.regex(/^https?:\/\/\S*[^\s/]$/))),
    /** Groups there to their names here; every channel is in `default`. */
    groups: z.optional(z.record(z.string().check(z.minLength(1)), z.string().check(z.minLength(1)))),
  }),
  bodyBytes: CONFIG_BYTES,
  data: z.array(z.string()),
  fails: ["invalid_parameter", "invalid_field", "document_invalid"],
});

export const pricesImport = endpoint({
  name: "pricesImport",
  method: "POST",
  path: "/api/import/prices",
  access: "root",
  summary:
    "Prices of models that channels serve and that have none here, as the addresses of the channels publish them. Answers what was taken from where and every model that still has no price, a line each.",
  body: z.strictObject({
    channels: z.array(
      z.strictObject({
        /** Without a slash at its end; "" = that of the vendor, who publishes nothing. */
        address: z.string(),
        /** Sent with the question; "" = none. */
        key: z.string(),
        /** The name that clients use, to the name at the upstream. */
        models: z.record(z.string().check(z.minLength(1)), z.string()),
      }),
    ),
    /** Options that are about to be written: what they price needs no other price. */
    options: z.optional(z.record(z.string(), z.string())),
    /** False only names the models. */
    price_from_upstream: z.optional(z.boolean()),
    dry_run: z.optional(z.boolean()),
  }),
  bodyBytes: CONFIG_BYTES,
  data: z.array(z.string()),
  fails: ["invalid_parameter", "invalid_field"],
});
