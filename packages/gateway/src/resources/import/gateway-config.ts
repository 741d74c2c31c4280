import type { ChannelStrategy } from "@fairway/wire";
import type { JsonObject } from "../../lib/text/json.ts";
import type { ImportedFallbacks } from "./fallbacks.ts";
import type { TokenCost } from "./prices.ts";

/** Values of the variables that a configuration refers to. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** One upstream of another gateway's configuration, with all the models that it serves. */
export interface ImportedChannel {
  readonly provider: string;
  /** Its name in the configuration; "" if it has none. */
  readonly name: string;
  readonly type: number;
  readonly key: string;
  readonly baseUrl: string;
  readonly other: string;
  readonly weight: number;
  /** Limits for all its calls; an absent member means no limit. */
  readonly limits: { readonly rpm?: number; readonly tpm?: number };
  /** Model groups of the configuration that are also groups here. */
  readonly accessGroups: readonly string[];
  /** Further members of `setting`. */
  readonly setting: JsonObject;
  /** Model names at the upstream, by the names that clients use. */
  readonly models: Map<string, string>;
}

export interface GatewayConfig {
  readonly channels: readonly ImportedChannel[];
  readonly costs: ReadonlyMap<string, TokenCost>;
  readonly retries: number | undefined;
  /** How channels of one priority are chosen. */
  readonly strategy: ChannelStrategy | undefined;
  /** Models that may serve in place of others. */
  readonly fallbacks: ImportedFallbacks | undefined;
  /** "" if the configuration has none. */
  readonly masterKey: string;
  /** Settings that could not be imported, with reasons. */
  readonly notes: readonly string[];
}

/** The content is not a known configuration; the message quotes none of it. */
export class UnknownConfig extends Error {
  override readonly name = "UnknownConfig";
}
