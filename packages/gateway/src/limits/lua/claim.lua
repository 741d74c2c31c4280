-- Takes all claims of a request or none; see take-claims.lua. The keys are the claims.

local nowGiven = ARGV[1]
local requestId = ARGV[2]
local leaseMs = ARGV[3]

-- include take-claims.lua
return takeClaims(KEYS)
