-- Returns milliseconds of the clock of Redis, which all replicas share; `given` replaces it unless it is '0'.
local function clock(given)
  if given ~= '0' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
