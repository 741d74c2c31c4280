import { Button, Flex } from "@chakra-ui/react";
import { listServices, startSignIn } from "../../shared/identity/services.ts";
import { TelegramWidget } from "../../shared/identity/telegram.tsx";
import { useStatus } from "../../session/status.ts";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { useTexts } from "./texts.ts";

/** A button for each service that this gateway lets its users sign in with. */
export function Services() {
  const t = useTexts();
  const status = useStatus();
  const offered = listServices(status).filter((service) => service.isOffered(status));
  if (offered.length === 0 && !status.telegram_oauth) return null;
  return (
    <Flex direction="column" gap="2" mt="4">
      {offered.map((service) => (
        <Button
          key={service.name}
          variant="outline"
          width="full"
          onClick={() => void startSignIn(service).catch(toastProblem)}
        >
          {t("continueWith", { service: service.label })}
        </Button>
      ))}
      {status.telegram_oauth && <TelegramWidget />}
    </Flex>
  );
}
