import type { IdentityProvider } from "@fairway/wire";
import { useNavigate } from "react-router";
import { ask } from "../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import type { MenuEntry } from "../../ui/menu/menu.ts";
import { deleteProvider, LIST_PATH, setProviderStatus } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Returns what the menu of a provider offers, in the list and on its page. */
export function useProviderEntries(row: IdentityProvider): (MenuEntry | undefined)[] {
  const t = useTexts();
  const navigate = useNavigate();
  const { id, name } = row;
  const isOn = row.status === 1;
  const toggle = () =>
    void setProviderStatus(id, isOn ? 2 : 1).then(
      () => toast("success", t(isOn ? "switchedOff" : "switchedOn", { name })),
      toastProblem,
    );
  const remove = async () => {
    const question = { title: t("removeTitle", { name }), body: t("removeBody"), confirm: t("remove") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await deleteProvider(id).then(() => {
      toast("success", t("removed", { name }));
      void navigate(LIST_PATH);
    }, toastProblem);
  };
  return [
    isOn
      ? { id: "off", label: t("switchOff"), icon: "pause", run: toggle }
      : { id: "on", label: t("switchOn"), icon: "play", run: toggle },
    undefined,
    { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() },
  ];
}
