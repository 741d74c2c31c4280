import type { User } from "@fairway/wire";
import { Suspense, useState } from "react";
import { useUser } from "../../../session/session.ts";
import { runEach, useBulk, type BulkAction } from "../../../ui/bulk/bulk.ts";
import { BulkBar, BulkButton } from "../../../ui/bulk/bulk-bar.tsx";
import { eachChange, planAction, type Plan, type PlanJob } from "../../../ui/bulk/plan.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { toast } from "../../../ui/feedback/toaster.ts";
import { lateOverlay } from "../../../ui/late/late.tsx";
import { refreshUsers } from "../api.ts";
import { useTexts } from "../texts.ts";
import { changeUser, deleteUser } from "./calls.ts";
import { isChangeable, NO_CHANGE, buildPlan, type UserPatch, type UsersDraft } from "./plan.ts";

const UsersDialog = lateOverlay(async () => (await import("./users-dialog.tsx")).UsersDialog);

interface BulkActionsProps {
  readonly chosen: readonly User[];
  select(ids: ReadonlySet<number>): void;
}

function toChosen({ id, username }: User) {
  return { id, name: username };
}

/** Actions for many users at once. */
export function BulkActions({ chosen, select }: BulkActionsProps) {
  const t = useTexts();
  const own = useUser();
  const bulk = useBulk(select);
  const [isChanging, setChanging] = useState(false);
  const changeable = chosen.filter((user) => isChangeable(own, user));
  const run = (label: string, plan: Plan<User, UserPatch>) => {
    setChanging(false);
    if (plan.length === 0) return toast("info", t("noneChanges"));
    const job: PlanJob<User, UserPatch> = {
      label,
      send: (changes, track) => eachChange(changes, changeUser, track),
      refresh: refreshUsers,
      done: (count, isUndo) => t(isUndo ? "restoredMany" : "changedMany", { count }),
    };
    bulk.run(
      planAction(job, plan),
      plan.map(({ row }) => toChosen(row)),
    );
  };
  const switchAll = (status: UsersDraft["status"]) =>
    run(
      t(status === "on" ? "enable" : "disable"),
      buildPlan({ draft: { ...NO_CHANGE, status }, added: 0 }, changeable),
    );
  const remove = async () => {
    if (changeable.length === 0) return toast("info", t("noneChanges"));
    const title = t("removeManyTitle", { count: changeable.length });
    if (!(await ask({ title, body: t("removeManyBody"), confirm: t("remove"), isDangerous: true }))) return;
    const action: BulkAction = {
      label: t("remove"),
      isCounted: true,
      send: async (ids, track) => {
        try {
          return await runEach(ids, deleteUser, track);
        } finally {
          await refreshUsers();
        }
      },
      done: (count) => t("removedMany", { count }),
    };
    bulk.run(action, changeable.map(toChosen));
  };
  return (
    <>
      <BulkBar count={chosen.length} onClear={() => select(new Set())} bulk={bulk}>
        <BulkButton label={t("enable")} run={() => switchAll("on")} />
        <BulkButton label={t("disable")} run={() => switchAll("off")} />
        <BulkButton label={t("changeMany")} run={() => setChanging(true)} />
        <BulkButton label={t("remove")} isDangerous run={() => void remove()} />
      </BulkBar>
      <Suspense>
        {isChanging && (
          <UsersDialog
            users={changeable}
            total={chosen.length}
            onApply={(plan) => run(t("changeTitle"), plan)}
            onClose={() => setChanging(false)}
          />
        )}
      </Suspense>
    </>
  );
}
