import { resolveLastUse, type TokenFacts } from "@fairway/wire";
import type { ReactNode } from "react";
import { Money } from "../../ui/display/money.tsx";
import { When } from "../../ui/display/when.tsx";
import { useLimitsLine } from "../../ui/form/limits-line.ts";
import { useTexts } from "./texts.ts";

/** A token with or without its key. */
export type ShownToken = Omit<TokenFacts, "username" | "key_hint">;

/** Returns permissions and last use of a token, by name; unlimited ones are left out. */
export function useTokenFacts(token: ShownToken): readonly (readonly [string, ReactNode])[] {
  const t = useTexts();
  const limits = useLimitsLine()(token.limits);
  const used = resolveLastUse(token) > 0 ? <When key="used" at={resolveLastUse(token)} /> : t("never");
  const left = token.unlimited_quota ? t("noLimit") : <Money key="left" quota={token.remain_quota} />;
  const expiry = token.expired_time < 0 ? t("never") : <When key="expiry" at={token.expired_time} />;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t("lastUse"), used],
    [t("usedSoFar"), <Money key="spent" quota={token.used_quota} />],
    [t("remaining"), left],
    [t("expiry"), expiry],
    [t("created"), <When key="created" at={token.created_time} />],
    [t("keyMade"), token.rotated_at === 0 ? undefined : <When key="rotated" at={token.rotated_at} />],
    [t("oldKeysUntil"), token.old_keys_until === 0 ? undefined : <When key="old" at={token.old_keys_until} />],
    [t("rotateDays"), token.rotate_days === 0 ? undefined : t("everyDays", { count: token.rotate_days })],
    [t("groupFact"), token.group],
    [t("modelsFact"), token.model_limits_enabled ? token.model_limits.replaceAll(",", ", ") : t("noLimit")],
    [t("addresses"), token.allow_ips.replaceAll("\n", ", ")],
    [t("requests"), limits],
  ];
  return facts.filter(([, value]) => value !== "" && value !== undefined);
}
