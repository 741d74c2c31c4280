import { OPTION_KEYS, OPTIONS, serverAddress, type OptionValues, type Status } from "@fairway/wire";

export interface StatusFacts {
  readonly version: string;
  /** Epoch seconds of the start of this process. */
  readonly startedAt: number;
  readonly isSetUp: boolean;
  /** Address of this server while the option names none. */
  readonly publicUrl: string | undefined;
}

/** Options that name a member of the view, and the few members that are worked out. */
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
    // Balances are never batched, so there is nothing to switch on.
    enable_batch_update: false,
    setup: facts.isSetUp,
  };
  return { ...(shown as Omit<Status, keyof typeof worked>), ...worked };
}
