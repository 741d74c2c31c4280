import type { ChannelType } from "@fairway/wire";
import { Box, Button, Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { Link } from "react-router";
import { milliseconds } from "../../lib/format.ts";
import { Mark } from "../../ui/display/mark.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { SelectField } from "../../ui/form/field.tsx";
import { createChannel, type Probe } from "./api.ts";
import { Offer } from "./offer.tsx";
import { channelInput, preselected, type OfferedModel, type ProviderDraft } from "./provider.ts";
import { useTexts } from "./texts.ts";

export interface Connection {
  readonly type: ChannelType;
  readonly draft: ProviderDraft;
  readonly models: readonly OfferedModel[];
  readonly probe: Probe | undefined;
}

function Verdict({ tried }: { readonly tried: Probe }) {
  const t = useTexts();
  if (tried.isGood) {
    return <Mark kind="go" label={t("testGood", { model: tried.model, time: milliseconds(tried.latencyMs) })} />;
  }
  return (
    <Box>
      <Mark kind="stop" label={t("testBad", { model: tried.model })} />
      <Text textStyle="sm" color="fg.muted" overflowWrap="anywhere" mt="1">
        {tried.message}
      </Text>
    </Box>
  );
}

/**
 * Shown once the provider accepts the key: the test, the models with prices, and the button that creates the channel.
 */
export function Connected(props: {
  readonly connection: Connection;
  readonly isBusy: boolean;
  onTry(model: string): Promise<void>;
  onDone(): void;
}) {
  const t = useTexts();
  const { type, draft, models, probe } = props.connection;
  const [chosen, setChosen] = useState(() => preselected(models));
  const [isSaving, setSaving] = useState(false);
  const [model, setModel] = useState(probe?.model ?? "");

  async function save(): Promise<void> {
    setSaving(true);
    try {
      const names = models.map(({ name }) => name).filter((name) => chosen.has(name));
      const input = channelInput(draft, type.label, names);
      await createChannel(probe?.isGood ? { ...input, test_model: probe.model } : input);
      toast("success", t("channelAdded", { name: type.label }));
      props.onDone();
    } catch (problem) {
      toastProblem(problem);
    } finally {
      setSaving(false);
    }
  }

  if (models.length === 0) {
    return (
      <Text mt="4">
        {t("noModels")}{" "}
        <Link className="link" to="/channel/add">
          {t("allFields")}
        </Link>
      </Text>
    );
  }
  return (
    <Flex direction="column" gap="4" mt="4" borderTopWidth="1px" pt="4">
      {probe && (
        <Flex gap="3" align="flex-end" wrap="wrap">
          <Box flex="1" minW="56" pb="2">
            <Verdict tried={probe} />
          </Box>
          {!probe.isGood && (
            <>
              <Box minW="56">
                <SelectField
                  label={t("testModel")}
                  value={model}
                  choices={models.map(({ name }) => ({ value: name, label: name }))}
                  onChange={setModel}
                />
              </Box>
              <Button variant="outline" loading={props.isBusy} onClick={() => void props.onTry(model)}>
                {t("testAgain")}
              </Button>
            </>
          )}
        </Flex>
      )}
      <Offer models={models} chosen={chosen} onChange={setChosen} />
      <Flex>
        <Button
          variant={probe?.isGood === false ? "outline" : "solid"}
          disabled={chosen.size === 0}
          loading={isSaving}
          onClick={() => void save()}
        >
          {t(probe?.isGood === false ? "addAnyway" : "addChannel")}
        </Button>
      </Flex>
    </Flex>
  );
}
