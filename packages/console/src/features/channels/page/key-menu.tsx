import { CHANNEL_STATUS } from "@fairway/wire";
import { milliseconds } from "../../../lib/format.ts";
import { problemText, toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { setKeyStatus } from "../form-api.ts";
import { keyName } from "../key-name.ts";
import { useTexts as useChannelTexts } from "../texts.ts";
import { testKey } from "./api.ts";
import type { KeyLine } from "./key-state.ts";
import { removeKeyAsking } from "./remove-key.tsx";
import { useTexts } from "./texts.ts";

interface KeyMenuProps {
  readonly id: number;
  readonly line: KeyLine;
  /** False for the only key of a channel, which is neither switched nor removed. */
  readonly isOneOfSeveral: boolean;
  readonly canTest: boolean;
}

/** What can be done with one key of a channel. */
export function KeyMenu({ id, line, isOneOfSeveral, canTest }: KeyMenuProps) {
  const t = useTexts();
  const ofChannel = useChannelTexts();
  const name = keyName(line);
  const isOn = line.status === CHANNEL_STATUS.enabled;
  const test = () =>
    testKey(id, line.index).then(
      (ms) => toast("success", t("keyAnswered", { name, time: milliseconds(ms) })),
      (problem: unknown) => toast("error", t("keyFailed", { name, message: problemText(problem) })),
    );
  const remove = () =>
    removeKeyAsking(id, line, t).then((isDone) => isDone && toast("success", t("removedKey", { name })), toastProblem);
  const toggle = () => setKeyStatus(id, line.index, !isOn).catch(toastProblem);
  const several = [
    {
      id: "toggle",
      label: ofChannel(isOn ? "disable" : "enable"),
      icon: isOn ? ("pause" as const) : ("play" as const),
      run: () => void toggle(),
    },
    undefined,
    { id: "remove", label: t("removeKey"), icon: "trash" as const, isDangerous: true, run: () => void remove() },
  ];
  const entries = [
    ...(canTest ? [{ id: "test", label: t("testKey"), icon: "play" as const, run: () => void test() }] : []),
    ...(isOneOfSeveral ? several : []),
  ];
  if (entries.length === 0) return null;
  return <RowMenu name={ofChannel("keyNamed", { name })} entries={entries} />;
}
