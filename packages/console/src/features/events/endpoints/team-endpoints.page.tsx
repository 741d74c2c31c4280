import { useMemo } from "react";
import { useParams } from "react-router";
import { buildTeamOwner } from "../owner.ts";
import { AddEndpoint, EditEndpoint } from "./endpoint-drawer.tsx";
import { EndpointList } from "./endpoint-list.tsx";
import { EndpointPage } from "./endpoint-page.tsx";

function useTeam() {
  const team = Number(useParams()["team"]);
  return useMemo(() => buildTeamOwner(team), [team]);
}

export function TeamEndpoints() {
  return <EndpointList owner={useTeam()} />;
}

export function AddTeamEndpoint() {
  const owner = useTeam();
  return (
    <EndpointList owner={owner}>
      <AddEndpoint owner={owner} />
    </EndpointList>
  );
}

export function EditTeamEndpoint() {
  const owner = useTeam();
  return (
    <EndpointList owner={owner}>
      <EditEndpoint owner={owner} />
    </EndpointList>
  );
}

export function TeamEndpointPage() {
  return <EndpointPage owner={useTeam()} />;
}
