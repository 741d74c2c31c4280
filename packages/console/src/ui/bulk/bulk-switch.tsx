import type { ReactNode } from "react";
import { copyOrShow } from "../content/copy.ts";
import { ask } from "../feedback/ask.ts";
import { BulkBar, BulkButton } from "./bulk-bar.tsx";
import { runEach, useBulk, type Bulk, type BulkAction, type Chosen, type RowChange } from "./bulk.ts";
import { useTexts } from "../texts.ts";
import { toast } from "../feedback/toaster.ts";

/** The status of an enabled row, whatever its kind. */
const SWITCHED_ON = 1;

type Switched = Chosen & { readonly status: number };

interface BulkSwitchProps<R extends Switched> {
  readonly chosen: readonly R[];
  select(ids: ReadonlySet<number>): void;
  /** Texts of the page. */
  t(word: "copySelected" | "disable" | "enable" | "remove" | "removeManyBody" | "selectFirst"): string;
  /** Returns a text about a number of rows. */
  tell(word: "changedMany" | "removedMany" | "removeManyTitle", count: number): string;
  /** Returns the line of a row on the clipboard. */
  line(row: R): string;
  /** Changes one row. */
  change(kind: RowChange, id: number): Promise<unknown>;
  /** Reloads the list once after all changes. */
  refresh(): Promise<void>;
  /** Further buttons for this kind of row. */
  more?(bulk: Bulk): ReactNode;
}

/** Copies, enables, disables and deletes many rows of a kind. */
export function BulkSwitch<R extends Switched>(props: BulkSwitchProps<R>) {
  const { chosen, select, t, tell } = props;
  const ui = useTexts();
  const bulk = useBulk(select);
  const act = (kind: RowChange, label: string, only?: ReadonlySet<number>): BulkAction => ({
    label,
    isCounted: true,
    send: async (ids, track) => {
      try {
        return await runEach(only ? ids.filter((id) => only.has(id)) : ids, (id) => props.change(kind, id), track);
      } finally {
        await props.refresh();
      }
    },
    done: (count) => tell(kind === "delete" ? "removedMany" : "changedMany", count),
  });
  const switching = (isOn: boolean): BulkAction => {
    const others = chosen.filter(({ status }) => (status === SWITCHED_ON) !== isOn);
    const back = act(isOn ? "disable" : "enable", ui("undo"), new Set(others.map(({ id }) => id)));
    return { ...act(isOn ? "enable" : "disable", t(isOn ? "enable" : "disable")), undo: () => back };
  };
  const copy = async () => {
    if (chosen.length === 0) return toast("error", t("selectFirst"));
    if (await copyOrShow(chosen.map((row) => props.line(row)).join("\n"))) toast("success", ui("copied"));
  };
  const remove = async () => {
    const title = tell("removeManyTitle", chosen.length);
    if (!(await ask({ title, body: t("removeManyBody"), confirm: t("remove"), isDangerous: true }))) return;
    bulk.run(act("delete", t("remove")), chosen);
  };
  return (
    <BulkBar count={chosen.length} onClear={() => select(new Set())} bulk={bulk}>
      <BulkButton label={t("copySelected")} run={() => void copy()} />
      <BulkButton label={t("enable")} run={() => bulk.run(switching(true), chosen)} />
      <BulkButton label={t("disable")} run={() => bulk.run(switching(false), chosen)} />
      {props.more?.(bulk)}
      <BulkButton label={t("remove")} isDangerous run={() => void remove()} />
    </BulkBar>
  );
}
