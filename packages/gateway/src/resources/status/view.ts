import { OPTION_KEYS, OPTIONS, serverAddress, type OptionValues, type Status } from "@fairway/wire";

export interface StatusFacts {
  readonly version: string;
  /** Epoch seconds of the start of this process. */
  readonly startedAt: number;
  readonly isSetUp: boolean;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
  /** The identity providers of companies. */
  readonly signIn: Status["sign_in"];
}

/** The provider of the options `oidc.*`. */
const OWN_OIDC: Status["sign_in"][number] = { slug: "oidc", name: "OpenID Connect", kind: "oidc" };

/** Returns the options that are members of the view, and the few computed members. */
export function statusView(options: OptionValues, facts: StatusFacts): Status {
  const shown: Record<string, unknown> = {};
  for (const key of OPTION_KEYS) {
    const name = OPTIONS[key].shownAs;
    if (name !== undefined) shown[name] = options[key];
  }
  const worked = {
    version: facts.version,
    start_time: facts.startedAt,
    server_address: serverAddress(options, facts.publicUrl),
    enable_online_topup: options.PayAddress !== "" && options.EpayId !== "" && options.EpayKey !== "",
    // Balances are never batched, so this cannot be enabled.
    enable_batch_update: false,
    setup: facts.isSetUp,
    sign_in: [...(options["oidc.enabled"] ? [OWN_OIDC] : []), ...facts.signIn],
  };
  return { ...(shown as Omit<Status, keyof typeof worked>), ...worked };
}
