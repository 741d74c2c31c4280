import type { Budget } from "@fairway/wire";
import { When } from "../../ui/display/when.tsx";

interface Props {
  readonly budget: Pick<Budget, "period" | "window_end">;
  /** From the page, so that the list of budgets loads no texts of the plots. */
  readonly words: { readonly endless: string; readonly idle: string };
}

/** When the window of a budget ends; in words if it has no end, or if it begins with the next request. */
export function WindowEnd({ budget, words }: Props) {
  if (budget.window_end > 0) return <When at={budget.window_end} />;
  return <span className="soft">{budget.period === "total" ? words.endless : words.idle}</span>;
}
