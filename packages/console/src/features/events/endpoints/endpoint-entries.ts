import type { Webhook } from "@fairway/wire";
import { useNavigate } from "react-router";
import { ask } from "../../../ui/feedback/ask.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import type { MenuEntry } from "../../../ui/menu/menu.ts";
import { deleteEndpoint, rotateKey, updateEndpoint } from "../api.ts";
import type { Owner } from "../owner.ts";
import { useTexts } from "../texts.ts";
import { madeKey } from "./made-key.ts";

/** Returns what the menu of an endpoint offers, in its list and on its page. */
export function useEndpointEntries(row: Webhook, owner: Owner): (MenuEntry | undefined)[] {
  const t = useTexts();
  const navigate = useNavigate();
  const { id, name, status } = row;
  const setOn = (isOn: boolean) =>
    void updateEndpoint(owner, id, { status: isOn ? "on" : "off" }).then(
      () => toast("success", t(isOn ? "isOn" : "isOff", { name })),
      toastProblem,
    );
  const rotate = async () => {
    const question = { title: t("rotateTitle", { name }), body: t("rotateBody"), confirm: t("rotate") };
    if (!(await ask(question))) return;
    await rotateKey(owner, id).then((key) => {
      madeKey.write({ endpoint: `${owner.name} ${id}`, key });
      void navigate(`${owner.path}/${id}`);
    }, toastProblem);
  };
  const remove = async () => {
    const question = { title: t("removeTitle", { name }), body: t("removeBody"), confirm: t("remove") };
    if (!(await ask({ ...question, isDangerous: true }))) return;
    await deleteEndpoint(owner, id).then(() => {
      toast("success", t("removed", { name }));
      void navigate(owner.path);
    }, toastProblem);
  };
  const toggles: MenuEntry[] =
    status === "on"
      ? [{ id: "pause", label: t("switchOff"), icon: "pause", run: () => setOn(false) }]
      : status === "off"
        ? [{ id: "resume", label: t("switchOn"), icon: "play", run: () => setOn(true) }]
        : [];
  const keys: MenuEntry[] =
    row.format === "standard" ? [{ id: "rotate", label: t("rotate"), icon: "key", run: () => void rotate() }] : [];
  return [
    ...toggles,
    ...keys,
    undefined,
    { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove() },
  ];
}
