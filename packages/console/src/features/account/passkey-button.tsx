import { Button } from "@chakra-ui/react";
import { useState } from "react";
import { canUsePasskeys, isCancelled } from "../../lib/passkeys.ts";
import { Icon } from "../../ui/display/icon.tsx";
import { problemText } from "../../ui/feedback/toaster.ts";
import { signInWithPasskey } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Signs in with a passkey of this device instead of a password; hidden if the browser does not support passkeys. */
export function PasskeyButton(props: { onDone(): void; onFailure(text: string | undefined): void }) {
  const t = useTexts();
  const [isAsking, setAsking] = useState(false);
  if (!canUsePasskeys()) return null;
  const signIn = async () => {
    setAsking(true);
    props.onFailure(undefined);
    try {
      await signInWithPasskey();
      props.onDone();
    } catch (problem) {
      props.onFailure(isCancelled(problem) ? t("passkeyCancelled") : problemText(problem));
    } finally {
      setAsking(false);
    }
  };
  return (
    <Button variant="outline" width="full" mt="4" loading={isAsking} onClick={() => void signIn()}>
      <Icon name="key" />
      {t("passkey")}
    </Button>
  );
}
