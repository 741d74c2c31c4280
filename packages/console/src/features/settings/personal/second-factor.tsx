import type { TwoFactorState } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { LoadFailed, Loading } from "../../../ui/feedback/empty.tsx";
import { Placeholder } from "../../../ui/feedback/placeholder.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { Mark } from "../../../ui/display/mark.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import {
  beginTwoFactor,
  confirmTwoFactor,
  disableTwoFactor,
  replaceRecoveryCodes,
  twoFactorQuery,
  type NewSecret,
} from "../api.ts";
import { CodeForm } from "./code-form.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { useTexts } from "../texts.ts";
import { late } from "../../../ui/late/late.tsx";

const Qr = late(async () => (await import("./qr-code.tsx")).Qr);

/** Pixels of the picture. */
const QR_SIZE = 204;
/** At this number of recovery codes or fewer, the page suggests new ones. */
const FEW_CODES = 2;

type Step =
  | { readonly at: "rest" }
  | { readonly at: "secret"; readonly secret: NewSecret }
  | { readonly at: "disable" | "replace" }
  | { readonly at: "codes"; readonly codes: readonly string[] };

/** A code of an authenticator in addition to the password: on, off, and its recovery codes. */
export function SecondFactor() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(twoFactorQuery);
  const [step, setStep] = useState<Step>({ at: "rest" });
  return (
    <FormSection
      title={t("twoFactor")}
      aside={data && <Mark kind={data.enabled ? "go" : "parked"} label={t(data.enabled ? "isOn" : "isOff")} />}
    >
      <Text textStyle="sm" color="fg.muted">
        {t("twoFactorHelp")}
      </Text>
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {step.at === "rest" ? data && <Rest state={data} go={setStep} /> : <StepForm step={step} go={setStep} />}
    </FormSection>
  );
}

function Rest(props: { readonly state: TwoFactorState; go(step: Step): void }) {
  const t = useTexts();
  const { state, go } = props;
  if (!state.enabled) {
    const begin = () => void beginTwoFactor().then((secret) => go({ at: "secret", secret }), toastProblem);
    return (
      <Flex>
        <Button size="sm" variant="outline" onClick={begin}>
          {t("enableTwoFactor")}
        </Button>
      </Flex>
    );
  }
  const left = t("codesLeft", { count: state.recovery_codes_left });
  return (
    <>
      <Text as="div" textStyle="sm">
        {state.recovery_codes_left <= FEW_CODES ? <Mark kind="caution" label={left} /> : left}
      </Text>
      <Flex gap="2" wrap="wrap">
        <Button size="sm" variant="outline" onClick={() => go({ at: "replace" })}>
          {t("replaceCodes")}
        </Button>
        <Button size="sm" variant="outline" color="fg.error" onClick={() => go({ at: "disable" })}>
          {t("disableTwoFactor")}
        </Button>
      </Flex>
    </>
  );
}

function StepForm(props: { readonly step: Step; go(step: Step): void }) {
  const t = useTexts();
  const { step, go } = props;
  const rest = () => go({ at: "rest" });
  if (step.at === "codes") return <RecoveryCodes codes={step.codes} onDone={rest} />;
  if (step.at === "secret") {
    return <NewSecretForm secret={step.secret} onCodes={(codes) => go({ at: "codes", codes })} onCancel={rest} />;
  }
  const isDisabling = step.at === "disable";
  const submit = async (code: string) => {
    if (!isDisabling) return go({ at: "codes", codes: await replaceRecoveryCodes(code) });
    await disableTwoFactor(code);
    toast("success", t("twoFactorDisabled"));
    rest();
  };
  return (
    <CodeForm
      isDangerous={isDisabling}
      submitLabel={t(isDisabling ? "disableTwoFactor" : "replaceCodes")}
      help={t("codeHelp")}
      onSubmit={submit}
      onCancel={rest}
    />
  );
}

function NewSecretForm(props: {
  readonly secret: NewSecret;
  onCodes(codes: readonly string[]): void;
  onCancel(): void;
}) {
  const t = useTexts();
  const { secret, url } = props.secret;
  return (
    <Flex gap="5" wrap="wrap" align="flex-start">
      <Suspense fallback={<Placeholder height={QR_SIZE} width={QR_SIZE} />}>
        <Qr text={url} label={t("qrLabel")} />
      </Suspense>
      <Flex direction="column" gap="4" flex="1" minW="240px">
        <Text textStyle="sm">{t("scan")}</Text>
        <Flex align="center" gap="2">
          <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere" data-testid="totp-secret">
            {secret}
          </Text>
          <CopyButton text={secret} label={t("copySecret")} />
        </Flex>
        <CodeForm
          submitLabel={t("confirmTwoFactor")}
          help={t("firstCodeHelp")}
          onSubmit={async (code) => props.onCodes(await confirmTwoFactor(code))}
          onCancel={props.onCancel}
        />
      </Flex>
    </Flex>
  );
}
