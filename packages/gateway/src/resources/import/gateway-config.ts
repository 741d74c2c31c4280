import type { JsonObject } from "../../lib/text/json.ts";
import type { TokenCost } from "./prices.ts";

/** Values of the variables that a configuration names. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** One upstream of a configuration of another gateway, with all the models that it serves there. */
export interface ImportedChannel {
  readonly provider: string;
  /** As it is called there; "" = it has no name of its own. */
  readonly name: string;
  readonly type: number;
  readonly key: string;
  readonly baseUrl: string;
  readonly other: string;
  readonly weight: number;
  /** Limits for all its calls; absent members are not limited. */
  readonly limits: { readonly rpm?: number; readonly tpm?: number };
  /** Groups of models there that are groups here as well. */
  readonly accessGroups: readonly string[];
  /** Further members of `setting`. */
  readonly setting: JsonObject;
  /** Name for clients to name at the upstream. */
  readonly models: Map<string, string>;
}

export interface GatewayConfig {
  readonly channels: readonly ImportedChannel[];
  readonly costs: ReadonlyMap<string, TokenCost>;
  readonly retries: number | undefined;
  /** "" where the configuration has none. */
  readonly masterKey: string;
  /** Settings that could not be imported, with reasons. */
  readonly notes: readonly string[];
}

/** What was given is something else; the message quotes none of it. */
export class UnknownConfig extends Error {
  override readonly name = "UnknownConfig";
}
