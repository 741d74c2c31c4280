import { Button, Flex } from "@chakra-ui/react";
import type { SavedReport } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { nowSeconds } from "../../../lib/now.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { lateOverlay } from "../../../ui/late/late.tsx";
import { MenuButton } from "../../../ui/menu/menu-button.tsx";
import type { Question } from "../api.ts";
import type { Reader } from "../reader.ts";
import { useTexts } from "../texts.ts";
import { deleteReport, replaceQuestion, savedQuery, saveReport } from "./api.ts";
import { toShown, toStored } from "./convert.ts";

const SaveDialog = lateOverlay(async () => (await import("./save-dialog.tsx")).SaveDialog);

interface SavedBarProps {
  readonly question: Question;
  readonly reader: Reader;
  /** The id of the open report; "" = none. */
  readonly open: string;
  change(change: Partial<Question> & { readonly saved?: string }): void;
}

/** The saved reports of the reader or a team: one click opens one, and the open one has a menu. */
export function SavedBar({ question, reader, open, change }: SavedBarProps) {
  const t = useTexts();
  const { data: reports = [] } = useQuery(savedQuery(reader));
  const [edited, setEdited] = useState<SavedReport | "new">();
  const current = reports.find(({ id }) => String(id) === open);
  const mayChange = reader.saved === "change";
  const stored = () => toStored(question, reader, nowSeconds());
  const replace = (saved: SavedReport) =>
    void replaceQuestion(reader, saved, stored())
      .then(() => toast("success", t("saved")))
      .catch(toastProblem);
  const remove = async (saved: SavedReport) => {
    const text = { title: t("deleteTitle", { name: saved.name }), body: t("deleteBody"), confirm: t("deleteSaved") };
    if (!(await ask({ ...text, isDangerous: true }))) return;
    await deleteReport(reader, saved).then(() => change({ saved: "" }), toastProblem);
  };
  return (
    <Flex role="group" aria-label={t("savedReports")} gap="2" wrap="wrap" align="center" mb="3">
      {reports.map((report) => (
        <Button
          key={report.id}
          size="xs"
          variant="outline"
          aria-pressed={report === current}
          color={report === current ? "fairway.fg" : "fg"}
          onClick={() => change({ ...toShown(report.question, nowSeconds()), saved: String(report.id) })}
        >
          {report.cadence !== "none" && <Icon name="clock" size={12} />}
          <bdi>{report.name}</bdi>
        </Button>
      ))}
      {current && mayChange && (
        <MenuButton
          label={t("savedMenu", { name: current.name })}
          size="xs"
          entries={[
            { id: "edit", label: t("editSaved"), icon: "edit", run: () => setEdited(current) },
            { id: "replace", label: t("replaceSaved"), icon: "refresh", run: () => replace(current) },
            {
              id: "delete",
              label: t("deleteSaved"),
              icon: "trash",
              isDangerous: true,
              run: () => void remove(current),
            },
          ]}
        >
          <Icon name="dots" />
        </MenuButton>
      )}
      {mayChange && (
        <Button size="xs" variant="ghost" onClick={() => setEdited("new")}>
          <Icon name="plus" size={12} />
          {t("saveReport")}
        </Button>
      )}
      <Suspense>
        {edited && (
          <SaveDialog
            saved={edited === "new" ? undefined : edited}
            isOfTeam={reader.of === "team"}
            save={async (values) => {
              const saved = edited === "new" ? undefined : edited;
              const { id } = await saveReport(reader, values, { saved, question: stored() });
              change({ saved: String(id) });
            }}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Suspense>
    </Flex>
  );
}
