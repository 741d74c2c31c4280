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
    /** YAML of LiteLLM or JSON of Bifrost. */
    config: z.string().check(z.minLength(1)),
    /**
     * Values of the variables that it refers to as `os.environ/NAME` or `env.NAME`; the gateway reads none of its own.
     */
    variables: z.optional(z.record(z.string(), z.string())),
    /** True to only report what would be created. */
    dry_run: z.optional(z.boolean()),
    /** Models without a price get the prices that the addresses of their channels publish. */
    price_from_upstream: z.optional(z.boolean()),
    /** Address of the gateway that is being replaced: models without a price get the prices that it publishes. */
    price_from: z.optional(z.string().check(z.regex(/^https?:\/\/\S*[^\s/]$/))),
    /** Names of groups here by their names in the configuration; every channel is in `default`. */
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
        /** Address without a slash at the end; "" = that of the vendor, which publishes no prices. */
        address: z.string(),
        /** Key that is sent with the request; "" = none. */
        key: z.string(),
        /** Names at the upstream, by the names that clients use. */
        models: z.record(z.string().check(z.minLength(1)), z.string()),
      }),
    ),
    /** Options that will be written: models that they price need no other price. */
    options: z.optional(z.record(z.string(), z.string())),
    /** False only reports the models. */
    price_from_upstream: z.optional(z.boolean()),
    dry_run: z.optional(z.boolean()),
  }),
  bodyBytes: CONFIG_BYTES,
  data: z.array(z.string()),
  fails: ["invalid_parameter", "invalid_field"],
});
