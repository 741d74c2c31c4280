import { Box, Button, Flex, NativeSelect } from "@chakra-ui/react";
import { useState } from "react";
import { Icon } from "../../../ui/display/icon.tsx";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { MarkShape } from "../../../ui/display/mark.tsx";
import type { ChannelDraft } from "./channel-form.ts";
import { useTexts } from "../texts.ts";
import type { Probe } from "./use-probe.ts";

/** Shows the last test result wherever the form is scrolled to, and starts another test with any of its models. */
export function TestDock(props: { readonly probe: Probe; readonly form: ChannelDraft }) {
  const t = useTexts();
  const { probe, form } = props;
  const { result, isRunning } = probe;
  const [chosen, setChosen] = useState("");
  if (!result) return null;
  const model = form.models.includes(chosen) ? chosen : result.model;
  const models = [...new Set([result.model, ...form.models])].filter((name) => name !== "");
  return (
    <Flex
      role="region"
      aria-label={t("testDock")}
      direction="column"
      gap="2"
      borderTopWidth="1px"
      px="5"
      py="3"
      bg={result.isGood ? "bg.success" : "bg.error"}
    >
      <Flex align="flex-start" gap="2.5" color={result.isGood ? "fg.success" : "fg.error"}>
        <Box flex="none" pt="1">
          <MarkShape kind={result.isGood ? "go" : "stop"} />
        </Box>
        <Box role="status" flex="1" minW="0" maxH="24" overflowY="auto" overflowWrap="anywhere" tabIndex={0}>
          {result.text}
        </Box>
        <IconButton size="xs" label={t("testDockClose")} onClick={probe.close}>
          <Icon name="close" size={14} />
        </IconButton>
      </Flex>
      {models.length > 0 && (
        <Flex gap="2">
          <NativeSelect.Root size="sm" flex="1" minW="0">
            <NativeSelect.Field
              aria-label={t("testDockModel")}
              fontFamily="mono"
              value={model}
              onChange={(event) => setChosen(event.target.value)}
            >
              {models.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </NativeSelect.Field>
            <NativeSelect.Indicator />
          </NativeSelect.Root>
          <Button size="sm" variant="outline" loading={isRunning} onClick={() => void probe.run(form, model)}>
            {t("testDockRun")}
          </Button>
        </Flex>
      )}
    </Flex>
  );
}
