import { Box, Flex, Text } from "@chakra-ui/react";
import { useId } from "react";
import { AreaField, SwitchField, TextField } from "../../ui/form/field.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import type { Settings } from "./request.ts";
import { useTexts } from "./texts.ts";

const STEP = 0.1;
/** The handle's position if no value is sent. */
const REST = 1;

/** A number from 0.1 to 1, or none: the model then uses its own. */
function Slider(props: {
  readonly label: string;
  readonly value: number | undefined;
  onChange(value: number | undefined): void;
}) {
  const t = useTexts();
  const id = useId();
  const { label, value } = props;
  return (
    <Box>
      <Flex align="center" minH="7">
        <Text asChild textStyle="sm" fontWeight="medium" flex="1">
          <label htmlFor={id}>{label}</label>
        </Text>
        <Text textStyle="sm" color={value === undefined ? "fg.muted" : "fg"}>
          {value === undefined ? t("unset") : value.toFixed(1)}
        </Text>
        {value !== undefined && (
          <IconButton size="xs" label={t("reset", { name: label })} onClick={() => props.onChange(undefined)}>
            <Icon name="close" size={14} />
          </IconButton>
        )}
      </Flex>
      <input
        id={id}
        className={value === undefined ? "slider is-unset" : "slider"}
        type="range"
        min={STEP}
        max={1}
        step={STEP}
        value={value ?? REST}
        aria-valuetext={value === undefined ? t("unset") : value.toFixed(1)}
        onChange={(event) => props.onChange(Math.round(Number(event.target.value) * 10) / 10)}
      />
    </Box>
  );
}

export function Parameters(props: { readonly settings: Settings; onChange(change: Partial<Settings>): void }) {
  const t = useTexts();
  const { settings, onChange } = props;
  return (
    <Flex direction="column" gap="4">
      <AreaField
        label={t("system")}
        rows={4}
        placeholder={t("systemHint")}
        value={settings.system}
        onChange={(system) => onChange({ system })}
      />
      <Slider
        label={t("temperature")}
        value={settings.temperature}
        onChange={(temperature) => onChange({ temperature })}
      />
      <TextField
        label={t("maxTokens")}
        help={t("maxTokensHelp")}
        value={settings.maxTokens}
        onChange={(maxTokens) => onChange({ maxTokens: maxTokens.replaceAll(/\D/g, "") })}
      />
      <Slider label={t("topP")} value={settings.topP} onChange={(topP) => onChange({ topP })} />
      <TextField
        label={t("seed")}
        value={settings.seed}
        onChange={(seed) => onChange({ seed: seed.replaceAll(/[^\d-]/g, "") })}
      />
      <SwitchField label={t("json")} isOn={settings.isJson} onChange={(isJson) => onChange({ isJson })} />
    </Flex>
  );
}
