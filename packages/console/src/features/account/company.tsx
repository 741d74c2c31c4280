import { identityDiscover } from "@fairway/wire";
import { Box, Button, Text } from "@chakra-ui/react";
import { useRef, useState } from "react";
import { call } from "../../lib/http.ts";
import { useStatus } from "../../session/status.ts";
import { listServices, startSignIn, type SignInService } from "../../shared/identity/services.ts";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { useTexts } from "./texts.ts";

const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export interface Company {
  /** The provider of the company whose address was entered. */
  readonly service: SignInService | undefined;
  /** Looks for the provider of an address; the gateway answers by its domain, whether or not there is an account. */
  find(login: string): Promise<SignInService | undefined>;
}

/** Leads people of a company from their address to its own sign-in. */
export function useCompany(): Company {
  const status = useStatus();
  const [service, setService] = useState<SignInService>();
  const asked = useRef<{ readonly domain: string; readonly answer: Promise<SignInService | undefined> }>(undefined);
  const ask = async (login: string) => {
    const offer = await call(identityDiscover, { body: { login } });
    return listServices(status).find(({ name }) => name === offer?.slug);
  };
  const find = async (login: string) => {
    const text = login.trim();
    if ((status.sign_in ?? []).length === 0 || !ADDRESS.test(text)) {
      setService(undefined);
      return undefined;
    }
    const domain = text.slice(text.lastIndexOf("@")).toLowerCase();
    // Domains decide, so that one call serves all corrections of a name. The password works without an answer.
    if (asked.current?.domain !== domain) asked.current = { domain, answer: ask(text).catch(() => undefined) };
    const found = await asked.current.answer;
    setService(found);
    return found;
  };
  return { service, find };
}

/** Offers the sign-in of the company to which the address belongs. */
export function CompanyOffer({ service }: { readonly service: SignInService | undefined }) {
  const t = useTexts();
  if (!service) return null;
  return (
    <Box role="status" borderWidth="1px" borderRadius="l3" p="3">
      <Text textStyle="sm" mb="2">
        {t("companyAddress", { company: service.label })}
      </Text>
      <Button width="full" onClick={() => void startSignIn(service).catch(toastProblem)}>
        {t("companyGo", { company: service.label })}
      </Button>
    </Box>
  );
}
