-- Charges open reservations. Arguments and answers: `close.lua`.

local holdsKey = KEYS[1]
local leasesKey = KEYS[2]
local seenKey = KEYS[3]
local userKey = KEYS[4]
local tokenKey = KEYS[5]
local chargesKey = KEYS[6]
local epochKey = KEYS[7]
local accountName = ARGV[1]
local withToken = ARGV[2]

local closedState = 's'

local function refuse()
  return nil
end

-- include close.lua
