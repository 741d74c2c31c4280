import { OPERATOR, OWN } from "../owner.ts";
import { EndpointList } from "./endpoint-list.tsx";
import { EndpointPage } from "./endpoint-page.tsx";

export const OwnEndpoints = () => <EndpointList owner={OWN} />;
export const OperatorEndpoints = () => <EndpointList owner={OPERATOR} />;
export const OwnEndpointPage = () => <EndpointPage owner={OWN} />;
export const OperatorEndpointPage = () => <EndpointPage owner={OPERATOR} />;
