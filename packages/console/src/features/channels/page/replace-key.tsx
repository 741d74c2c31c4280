import { Button, Flex, Stack, Text } from "@chakra-ui/react";
import type { Channel, ChannelKey } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useId, useState, type FormEvent } from "react";
import { milliseconds } from "../../../lib/format.ts";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { SecretField, SelectField } from "../../../ui/form/field.tsx";
import { keyName } from "../key-name.ts";
import { useTexts as useChannelTexts } from "../texts.ts";
import { accountsQuery } from "./api.ts";
import { useReplacement, type Progress } from "./replacement.ts";
import { useTexts } from "./texts.ts";

interface ReplaceKeyProps {
  readonly channel: Channel;
  readonly keys: readonly ChannelKey[];
  readonly canTest: boolean;
  onClose(): void;
}

type Replacement = ReturnType<typeof useReplacement>;

/** Replaces a key of a channel in steps: add, test, switch, drain, remove. Each step can be the last one. */
export function ReplaceKey({ channel, keys: current, canTest, onClose }: ReplaceKeyProps) {
  const t = useTexts();
  const ofChannel = useChannelTexts();
  const form = useId();
  // The keys as they were: the indexes of later steps refer to them.
  const [keys] = useState(current);
  const [chosen, choose] = useState("0");
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const old = keys[Number(chosen)];
  const replacement = useReplacement({ id: channel.id, keys, old: old ?? NO_KEY, canTest, t });
  if (!old) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setError(text.trim() === "" ? ofChannel("oneKey") : undefined);
    if (text.trim() !== "") replacement.add(text.trim(), () => setError(t("newKeyKnown")));
  };
  return (
    <Modal
      title={t("replaceKeyTitle", { name: channel.name })}
      lead={t("replaceKeyHelp")}
      size="md"
      hasCross
      closeOnInteractOutside={false}
      footer={<Next replacement={replacement} form={form} old={old} onClose={onClose} />}
      onClose={onClose}
    >
      {replacement.progress.added ? (
        <Steps id={channel.id} replacement={replacement} old={old} added={replacement.progress.added} />
      ) : (
        <form id={form} noValidate onSubmit={submit}>
          <Stack gap="4">
            {keys.length > 1 && (
              <SelectField
                label={t("oldKey")}
                value={chosen}
                choices={keys.map((key) => ({
                  value: String(key.index),
                  label: ofChannel("keyNamed", { name: keyName(key) }),
                }))}
                onChange={choose}
              />
            )}
            <SecretField label={t("newKey")} isMono isRequired value={text} error={error} onChange={setText} />
          </Stack>
        </form>
      )}
    </Modal>
  );
}

const NO_KEY: ChannelKey = { index: -1, hint: "", status: 0, reason: "", time: 0 };

interface NextProps {
  readonly replacement: Replacement;
  /** Id of the form of the first step. */
  readonly form: string;
  readonly old: ChannelKey;
  onClose(): void;
}

/** The button of the next step. */
function Next({ replacement, form, old, onClose }: NextProps) {
  const t = useTexts();
  const { progress, isBusy } = replacement;
  if (!progress.added)
    return (
      <Button type="submit" form={form} loading={isBusy}>
        {t("addAndTest")}
      </Button>
    );
  if (progress.isRemoved) return <Button onClick={onClose}>{t("replaceDone")}</Button>;
  if (progress.isSwitched)
    return (
      <Button colorPalette="port" loading={isBusy} onClick={() => replacement.remove()}>
        {t("removeNamed", { name: keyName(old) })}
      </Button>
    );
  return (
    <Flex gap="3">
      {progress.test?.state === "bad" && (
        <Button variant="outline" loading={isBusy} onClick={replacement.testAgain}>
          {t("testAgain")}
        </Button>
      )}
      <Button disabled={progress.test?.state === "bad"} loading={isBusy} onClick={replacement.switchOver}>
        {t("switchOver")}
      </Button>
    </Flex>
  );
}

interface StepsProps {
  readonly id: number;
  readonly replacement: Replacement;
  readonly old: ChannelKey;
  readonly added: ChannelKey;
}

/** What is done so far. */
function Steps({ id, replacement, old, added }: StepsProps) {
  const t = useTexts();
  const { progress } = replacement;
  const name = keyName(added);
  return (
    <Stack as="ol" listStyleType="none" gap="2" textStyle="sm" aria-live="polite">
      <Step kind="go" label={t("stepAdded", { name })} />
      <Tested test={progress.test} name={name} />
      {progress.isSwitched && <Step kind="go" label={t("stepSwitched", { name })} />}
      {progress.isSwitched && !progress.isRemoved && <Drain id={id} old={old} />}
      {progress.reason !== undefined && !progress.isRemoved && (
        <InUse replacement={replacement} reason={progress.reason} />
      )}
      {progress.isRemoved && <Step kind="go" label={t("removedKey", { name: keyName(old) })} />}
    </Stack>
  );
}

function Step({ kind, label }: { readonly kind: MarkKind; readonly label: string }) {
  return (
    <Text as="li" overflowWrap="anywhere">
      <Mark kind={kind} label={label} />
    </Text>
  );
}

function Tested({ test, name }: { readonly test: Progress["test"]; readonly name: string }) {
  const t = useTexts();
  switch (test?.state) {
    case undefined:
      return null;
    case "running":
      return <Step kind="underway" label={t("stepTesting", { name })} />;
    case "good":
      return <Step kind="go" label={t("stepTested", { name, time: milliseconds(test.ms) })} />;
    case "bad":
      return <Step kind="stop" label={t("stepTestFailed", { name, message: test.message })} />;
  }
}

/** The requests that still run with the old key, at the replica that answers. */
function Drain({ id, old }: { readonly id: number; readonly old: ChannelKey }) {
  const t = useTexts();
  const account = useQuery(accountsQuery(id)).data?.find((one) => one.key_index === old.index);
  if (!account) return null;
  const name = keyName(old);
  if (account.running === 0) return <Step kind="go" label={t("stepDrained", { name })} />;
  return <Step kind="underway" label={t("stepDraining", { name, count: account.running })} />;
}

/** Files or batches need the old key: the new one may open the same account. */
function InUse({ replacement, reason }: { readonly replacement: Replacement; readonly reason: string }) {
  const t = useTexts();
  return (
    <Stack as="li" gap="2">
      <Mark kind="caution" label={reason} />
      <Flex gap="3" wrap="wrap">
        <Button size="xs" variant="outline" onClick={() => replacement.remove(true)}>
          {t("bindToNew")}
        </Button>
        <Button size="xs" variant="outline" onClick={() => replacement.force(reason)}>
          {t("keyRemoveAnyway")}
        </Button>
      </Flex>
    </Stack>
  );
}
