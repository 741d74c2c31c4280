import type { MessageKey } from "../core/message-codes.ts";
import { flagType, integerType, textType, type OptionType } from "./option-kinds.ts";

/** The card of the settings screens that contains an option. */
export type OptionGroup =
  | "general"
  | "content"
  | "login"
  | "domains"
  | "mail"
  | "github"
  | "wechat"
  | "telegram"
  | "linuxdo"
  | "oidc"
  | "human-check"
  | "server"
  | "worker"
  | "payment"
  | "drawing"
  | "words"
  | "logs"
  | "dashboard"
  | "monitoring"
  | "quota"
  | "relay"
  | "prices";

export interface OptionDefinition<T = unknown> {
  readonly type: OptionType<T>;
  /** Text used if nothing is stored; "" for a price table means the gateway's built-in one. */
  readonly fallback: string;
  readonly group: OptionGroup;
  /** One sentence for the settings screens and the reference. */
  readonly about: string;
  /** Name of the member of the status view that shows the value to everyone. */
  readonly shownAs: string | undefined;
  /** Keys that must not be empty before the option can be enabled, and the code of the refusal. */
  readonly needs: readonly string[];
  readonly needsMessage: MessageKey | undefined;
}

interface Extra {
  readonly shownAs?: string;
  readonly needs?: readonly string[];
  readonly needsMessage?: MessageKey;
}

export function option<T>(
  type: OptionType<T>,
  fallback: string,
  [group, about]: OptionSection,
  extra: Extra = {},
): OptionDefinition<T> {
  return {
    type,
    fallback,
    group,
    about,
    shownAs: extra.shownAs,
    needs: extra.needs ?? [],
    needsMessage: extra.needsMessage,
  };
}

type OptionSection = readonly [group: OptionGroup, about: string];

/** Kinds that both tables use. */
export const flag = flagType;
export const text = textType();
export const count = integerType(0);
export const positive = integerType(1);

export const ALL_RATIOS_1 = '{"default":1,"vip":1,"svip":1}';
