import type { IdentityProvider } from "@fairway/wire";
import { Mark } from "../../ui/display/mark.tsx";
import { useTexts } from "./texts.ts";

export function ProviderState({ row }: { readonly row: IdentityProvider }) {
  const t = useTexts();
  if (row.status !== 1) return <Mark kind="parked" label={t("stateOff")} />;
  return <Mark kind="go" label={t(row.enforced ? "stateEnforced" : "stateOn")} />;
}
