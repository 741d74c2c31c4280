import { CHANNEL_STATUS, type Channel, type ChannelType } from "@fairway/wire";
import { useLocation, useNavigate } from "react-router";
import { ApiProblem } from "../../../lib/problems.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { RowButton } from "../../../ui/display/row-button.tsx";
import type { MenuEntry } from "../../../ui/menu/menu.ts";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { problemText, toast, toastProblem, toastUndo } from "../../../ui/feedback/toaster.ts";
import { deleteAnyway } from "../delete/delete-anyway.tsx";
import { copyChannel, deleteChannel, refreshBalance, setChannelStatus } from "../api.ts";
import { useTexts } from "../texts.ts";

/** Acts on one row; every action reports its result. */
function useChannelActions() {
  const t = useTexts();
  const setStatus = (channel: Channel, isOn: boolean) => {
    const undo = () => void setChannelStatus(channel, !isOn).catch(toastProblem);
    setChannelStatus(channel, isOn).then(
      () => toastUndo(t(isOn ? "isEnabled" : "isDisabled", { name: channel.name }), undo),
      toastProblem,
    );
  };
  const copy = (channel: Channel) => {
    copyChannel(channel).then(
      (made) => toast("success", t("copied", { name: made.name })),
      (problem: unknown) => {
        const isMissing = problem instanceof ApiProblem && problem.key === "channel_not_found";
        toast("error", isMissing ? t("notFound") : t("copyFailed", { message: problemText(problem) }));
      },
    );
  };
  const remove = async (channel: Channel) => {
    const isConfirmed = await ask({
      title: t("removeTitle", { name: channel.name }),
      body: t("removeBody"),
      confirm: t("remove"),
      isDangerous: true,
    });
    if (!isConfirmed) return;
    const removing = deleteAnyway((isForced) => deleteChannel(channel, isForced), { t, channel: channel.id });
    await removing.then((done) => done && toast("success", t("removed", { name: channel.name })), toastProblem);
  };
  return { setStatus, copy, remove };
}

interface RowActionsProps {
  readonly channel: Channel;
  readonly type: ChannelType | undefined;
  readonly isTesting: boolean;
  onTest(channel: Channel): void;
}

export function RowActions({ channel, type, isTesting, onTest }: RowActionsProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const { search } = useLocation();
  const { setStatus, copy, remove } = useChannelActions();
  const isOn = channel.status === CHANNEL_STATUS.enabled;
  const entries: (MenuEntry | undefined)[] = [
    { id: "page", label: t("openPage"), icon: "chart", run: () => void navigate(`/channel/${channel.id}`) },
    {
      id: "edit",
      label: t("editRow"),
      icon: "edit",
      run: () => void navigate({ pathname: `/channel/edit/${channel.id}`, search }),
    },
    {
      id: "toggle",
      label: t(isOn ? "disable" : "enable"),
      icon: isOn ? "pause" : "play",
      run: () => setStatus(channel, !isOn),
    },
    { id: "copy", label: t("copyRow"), icon: "copy", run: () => copy(channel) },
    ...(type?.can_balance
      ? [
          {
            id: "balance",
            label: t("refreshBalance"),
            icon: "refresh" as const,
            run: () => void refreshBalance(channel).catch(toastProblem),
          },
        ]
      : []),
    { id: "log", label: t("openLog"), icon: "log", run: () => void navigate(`/log?channel=${channel.id}`) },
    undefined,
    { id: "delete", label: t("remove"), icon: "trash", isDangerous: true, run: () => void remove(channel) },
  ];
  return (
    <div className="row-actions">
      <RowButton
        isOutlined
        label={t("test", { name: channel.name })}
        disabled={isTesting || type?.can_test === false}
        onClick={() => onTest(channel)}
      >
        <Icon name="play" size={14} />
      </RowButton>
      <RowMenu name={channel.name} entries={entries} target={`channel ${channel.id}`} />
    </div>
  );
}
