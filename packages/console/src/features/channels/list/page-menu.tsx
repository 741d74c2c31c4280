import { CHANNEL_STATUS, channelDeleteDisabled, channelFix, channelList, ROLE } from "@fairway/wire";
import { Box, Flex, Text } from "@chakra-ui/react";
import { Suspense, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { lateOverlay } from "../../../ui/late/late.tsx";
import { getRole, useUser } from "../../../session/session.ts";
import { call, request } from "../../../lib/http.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { useActions } from "../../../ui/menu/actions.ts";
import type { MenuEntry } from "../../../ui/menu/menu.ts";
import { MenuButton } from "../../../ui/menu/menu-button.tsx";
import { Progress } from "../../../ui/feedback/progress.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { refreshChannels } from "../api.ts";
import { deleteAnyway } from "../delete/delete-anyway.tsx";
import { JOB_TEXTS, startJob, useChannelJobs } from "./jobs.ts";
import { useTexts } from "../texts.ts";

const PauseDialog = lateOverlay(async () => (await import("../bulk/pause-dialog.tsx")).PauseDialog);

const DISABLED = `${CHANNEL_STATUS.disabledByHand},${CHANNEL_STATUS.disabledBySystem}`;

/** Actions on all channels: some take long, some cannot be undone. */
export function PageMenu() {
  const t = useTexts();
  const [isPausing, setPausing] = useState(false);
  const navigate = useNavigate();
  const { search } = useLocation();
  const isRoot = getRole(useUser()) === ROLE.root;
  const close = () => setPausing(false);
  const fix = async () => {
    if (!(await ask({ title: t("fixTitle"), body: t("fixBody"), confirm: t("fix") }))) return;
    toast("success", t("fixed", { count: await call(channelFix, {}) }));
    await refreshChannels();
  };
  const removeDisabled = async () => {
    const { total = 0 } = await request(channelList, { query: { p: 0, page_size: 1, status: DISABLED } });
    if (total === 0) return toast("info", t("noneDisabled"));
    const title = t("removeDisabledTitle", { count: total });
    if (!(await ask({ title, body: t("removeManyBody"), confirm: t("remove"), isDangerous: true }))) return;
    const removing = (isForced: boolean) => call(channelDeleteDisabled, { query: isForced ? { force: true } : {} });
    const done = await deleteAnyway(removing, { t });
    if (!done) return;
    toast("success", t("removedMany", { count: done.answer }));
    await refreshChannels();
  };
  const entries: readonly MenuEntry[] = [
    { id: "pause", label: t("pauseMany"), icon: "pause", run: () => setPausing(true) },
    { id: "test", label: t("testAll"), icon: "play", run: () => void startJob("channel-test").catch(toastProblem) },
    {
      id: "balance",
      label: t("updateBalances"),
      icon: "refresh",
      run: () => void startJob("channel-balance").catch(toastProblem),
    },
    ...(isRoot
      ? [
          {
            id: "import",
            label: t("importMany"),
            icon: "file" as const,
            run: () => void navigate({ pathname: "/channel/import", search }),
          },
        ]
      : []),
    { id: "fix", label: t("fix"), icon: "check", run: () => void fix().catch(toastProblem) },
    {
      id: "disabled",
      label: t("removeDisabled"),
      icon: "trash",
      isDangerous: true,
      run: () => void removeDisabled().catch(toastProblem),
    },
  ];
  useActions("channels", entries);
  return (
    <>
      <MenuButton
        label={t("moreActions")}
        variant="outline"
        entries={[...entries.slice(0, -1), undefined, ...entries.slice(-1)]}
      >
        <Icon name="dots" />
      </MenuButton>
      <Suspense>{isPausing && <PauseDialog channels={[]} onDone={close} onClose={close} />}</Suspense>
    </>
  );
}

/** Shows the progress of the jobs on all channels. */
export function JobBars() {
  const t = useTexts();
  const running = useChannelJobs();
  if (running.length === 0) return null;
  return (
    <Box mb="3">
      {running.map((job) => {
        const label = t(JOB_TEXTS[job.name].running);
        const percent = job.total === 0 ? 0 : Math.floor((job.done / job.total) * 100);
        return (
          <Flex key={job.id} role="status" align="center" gap="3" wrap="wrap" textStyle="sm" py="1">
            <Text fontWeight="medium">{label}</Text>
            <Progress label={label} text={`${percent}%`} isFailed={false} />
            {job.total > 0 && (
              <Text color="fg.muted">{t("jobCount", { done: job.done, total: job.total, failed: job.failed })}</Text>
            )}
          </Flex>
        );
      })}
    </Box>
  );
}
