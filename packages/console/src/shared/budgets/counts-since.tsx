import { countsSince, isIdle, type Budget } from "@fairway/wire";
import { When } from "../../ui/display/when.tsx";
import { useTexts } from "./texts.ts";

/** Says when a budget that was created inside its window began to count; nothing for others. */
export function CountsSince({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  const since = countsSince(budget);
  if (since === budget.window_start || isIdle(budget)) return null;
  return (
    <span className="soft">
      {t("countsSince")} <When at={since} />
    </span>
  );
}
