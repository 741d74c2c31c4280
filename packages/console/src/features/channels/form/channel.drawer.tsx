import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { Box, Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { statusInfo } from "../../../lib/text/status-info.ts";
import { useForm } from "../../../lib/use-form.ts";
import { DrawerForm, DrawerLoading, DrawerShell } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import type { Edited } from "../../../ui/form/use-edited.ts";
import { EditDrawer } from "../../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../../ui/form/use-close-to.ts";
import { channelQuery, createChannel, updateChannel, usualModelsQuery } from "../form-api.ts";
import { checkChannel, EMPTY_CHANNEL, toChannelDraft, toChannelInput, type ChannelDraft } from "./channel-form.ts";
import { SectionIndex, type SectionName } from "./section-index.tsx";
import { TestDock } from "./test-dock.tsx";
import { useProbe } from "./use-probe.ts";
import { Keys } from "./keys-section.tsx";
import { ManagedNote } from "../managed.tsx";
import { StateMark } from "../state-mark.tsx";
import { Models } from "./models-section.tsx";
import { Connection, Health, Provider, Rewrites, Routing } from "./sections.tsx";
import { useTexts } from "../texts.ts";

/** A new channel starts with the usual models of its type, or with none if they do not arrive. */
export function AddChannel() {
  const t = useTexts();
  const close = useCloseTo("/channel");
  const { data, isPending } = useQuery(usualModelsQuery);
  const initial = useMemo(() => ({ ...EMPTY_CHANNEL, models: data?.[EMPTY_CHANNEL.type] ?? [] }), [data]);
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      {isPending ? (
        <DrawerLoading problem={undefined} onRetry={close} />
      ) : (
        <ChannelForm initial={initial} edited={undefined} />
      )}
    </DrawerShell>
  );
}

export function EditChannel() {
  const t = useTexts();
  return (
    <EditDrawer
      title={t("edit")}
      list="/channel"
      query={channelQuery}
      mark={(channel) => <StateMark channel={channel} />}
      toDraft={toChannelDraft}
      form={(initial, edited) => <ChannelForm initial={initial} edited={edited} />}
    />
  );
}

function SystemReason({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const { reason } = statusInfo(channel.other_info);
  if (channel.status !== CHANNEL_STATUS.disabledBySystem || reason === "") return null;
  return (
    <Box role="note" borderRadius="l3" px="4" py="3" bg="bg.error" color="fg.error" overflowWrap="anywhere">
      {t("systemReason", { reason })}
    </Box>
  );
}

const SECTIONS: readonly SectionName[] = [
  "sectionProvider",
  "sectionConnection",
  "sectionKeys",
  "sectionModels",
  "sectionRouting",
  "sectionRewrites",
  "sectionHealth",
];

function ChannelForm(props: { readonly initial: ChannelDraft; readonly edited: Edited<Channel> | undefined }) {
  const t = useTexts();
  const { edited, initial } = props;
  const channel = edited?.row;
  const isNew = edited === undefined;
  const probe = useProbe(channel?.id);
  const hasKeys = channel !== undefined && (channel.key_count ?? 1) > 1;
  const form = useForm<ChannelDraft>({
    initial,
    check: (values) =>
      Object.fromEntries(Object.entries(checkChannel(values, isNew)).map(([name, problem]) => [name, t(problem)])),
    save: async (values) => {
      if (isNew) await createChannel(toChannelInput(values), values.keysAs === "one");
      else await updateChannel(edited, toChannelInput(values));
      toast("success", t(isNew ? "created" : "saved", { name: values.name.trim() }));
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  const part = { form, channel };
  return (
    <DrawerForm
      form={form}
      list="/channel"
      head={<SectionIndex names={hasKeys ? SECTIONS : SECTIONS.filter((name) => name !== "sectionKeys")} />}
      dock={<TestDock probe={probe} form={form.values} />}
      createLabel={isNew ? t("create") : undefined}
      extraActions={
        <Button
          variant="outline"
          loading={probe.isRunning}
          loadingText={t("testing")}
          onClick={() => void probe.run(form.values, form.values.test_model.trim() || (form.values.models[0] ?? ""))}
        >
          {t("formTest")}
        </Button>
      }
    >
      {channel && <ManagedNote channel={channel} />}
      {channel && <SystemReason channel={channel} />}
      <Provider {...part} />
      <Connection {...part} />
      {hasKeys && <Keys channelId={channel.id} />}
      <Models {...part} />
      <Routing {...part} />
      <Rewrites {...part} />
      <Health {...part} />
    </DrawerForm>
  );
}
