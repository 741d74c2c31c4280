import { passkeyList, passkeyLoginOptions, selfConfirm, twoFactorGet } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useId, useState, type FormEvent } from "react";
import { call } from "../../lib/http.ts";
import { canUsePasskeys, isCancelled, signWithPasskey } from "../../lib/passkeys.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { SecretField, TextField } from "../../ui/form/field.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { problemText } from "../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

/** Only users who know the password or have the second factor may change credentials. */
export function ConfirmDialog(props: { onAnswer(isConfirmed: boolean): void }) {
  const t = useTexts();
  const id = useId();
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const factor = useQuery({ queryKey: queryKeys.confirm.factor, queryFn: () => call(twoFactorGet, {}), gcTime: 0 });
  const hasCode = factor.data?.enabled === true;
  const send = async (work: () => Promise<unknown>) => {
    setSending(true);
    setError(undefined);
    try {
      await work();
      props.onAnswer(true);
    } catch (problem) {
      if (!isCancelled(problem)) setError(problemText(problem));
    } finally {
      setSending(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = hasCode ? { code: secret.trim() } : { password: secret };
    void send(() => call(selfConfirm, { body }));
  };
  const field = { value: secret, error, onChange: setSecret };
  return (
    <Modal
      title={t("confirmTitle")}
      size="sm"
      onClose={() => props.onAnswer(false)}
      footer={
        <>
          <Button variant="outline" onClick={() => props.onAnswer(false)}>
            {t("confirmCancel")}
          </Button>
          <Button type="submit" form={id} loading={isSending} disabled={secret === ""}>
            {t("confirmSubmit")}
          </Button>
        </>
      }
    >
      <Text mb="4">{t("confirmBody")}</Text>
      {!factor.isPending && (
        <form id={id} noValidate onSubmit={submit}>
          {hasCode ? (
            <TextField label={t("confirmCode")} autoComplete="one-time-code" isMono {...field} />
          ) : (
            <SecretField label={t("confirmPassword")} autoComplete="current-password" {...field} />
          )}
        </form>
      )}
      <PasskeyChoice isSending={isSending} onSend={send} />
    </Modal>
  );
}

function PasskeyChoice(props: { readonly isSending: boolean; onSend(work: () => Promise<unknown>): Promise<void> }) {
  const t = useTexts();
  const { data } = useQuery({ queryKey: queryKeys.confirm.passkeys, queryFn: () => call(passkeyList, {}), gcTime: 0 });
  if (!canUsePasskeys() || !data?.length) return null;
  const sign = async () => {
    const passkey = await signWithPasskey(await call(passkeyLoginOptions, {}));
    await call(selfConfirm, { body: { passkey } });
  };
  return (
    <Flex mt="4">
      <Button variant="outline" size="sm" disabled={props.isSending} onClick={() => void props.onSend(sign)}>
        <Icon name="key" />
        {t("confirmPasskey")}
      </Button>
    </Flex>
  );
}
