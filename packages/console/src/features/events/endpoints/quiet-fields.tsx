import { Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useMemo } from "react";
import type { Form } from "../../../lib/use-form.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { Presets, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { GroupFrame } from "../../../ui/form/rows/group-frame.tsx";
import { useTexts } from "../texts.ts";
import type { QuietDraft } from "./quiet-form.ts";

/** 7 January 2024 was a Sunday. */
const SUNDAY = Date.UTC(2024, 0, 7);
const DAY_MS = 86_400_000;
const DAYS = [1, 2, 3, 4, 5, 6, 0];

/** Hours in which only critical events are sent at once. */
export function QuietFields({ form }: { readonly form: Form<QuietDraft> }) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <>
      <SwitchField
        label={t("quiet")}
        help={t("quietHelp")}
        isOn={values.quiet}
        onChange={(isOn) => set("quiet", isOn)}
      />
      {values.quiet && <QuietHours form={form} />}
    </>
  );
}

function QuietHours({ form }: { readonly form: Form<QuietDraft> }) {
  const t = useTexts();
  const { values, errors, set } = form;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = useMemo(() => Intl.supportedValuesOf("timeZone").map((value) => ({ value, label: "" })), []);
  return (
    <>
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
        <TextField label={t("quietFrom")} type="time" {...form.input("from")} />
        <TextField label={t("quietTo")} type="time" {...form.input("to")} />
      </SimpleGrid>
      <div>
        <TextField
          label={t("zone")}
          value={values.zone}
          suggestions={zones}
          error={errors.quiet}
          onChange={(zone) => set("zone", zone)}
        />
        <Presets
          label={t("zonePresets")}
          items={[...new Set(["UTC", own])].map((zone) => ({ label: zone, run: () => set("zone", zone) }))}
        />
      </div>
      <Weekdays form={form} />
    </>
  );
}

function Weekdays({ form: { values, errors, set } }: { readonly form: Form<QuietDraft> }) {
  const t = useTexts();
  const language = useLanguage();
  const format = new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" });
  const toggle = (day: number, isOn: boolean) =>
    set("weekdays", isOn ? [...values.weekdays, day] : values.weekdays.filter((other) => other !== day));
  return (
    <GroupFrame label={t("weekdays")} error={errors.weekdays} help={t("weekdaysHelp")}>
      <Flex gap="4" wrap="wrap">
        {DAYS.map((day) => (
          <label key={day} className="event-choice">
            <input
              type="checkbox"
              checked={values.weekdays.includes(day)}
              onChange={(event) => toggle(day, event.target.checked)}
            />
            <Text as="span" textStyle="sm">
              {format.format(SUNDAY + day * DAY_MS)}
            </Text>
          </label>
        ))}
      </Flex>
    </GroupFrame>
  );
}
